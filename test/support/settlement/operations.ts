import { finalizeInvoice, takeBackWriteOff, voidInvoice, writeOff } from "./invoiceOperations.ts"
import { allocateNote, creditInvoiceByNote, refundNote } from "./noteOperations.ts"
import { allocatePayment, payInvoice, recordPayment, refundPayment, reversePayment } from "./paymentOperations.ts"

/** Everything that changes what an invoice, a payment or a credit note is worth. */
export const operations = [
  finalizeInvoice,
  payInvoice,
  recordPayment,
  allocatePayment,
  refundPayment,
  reversePayment,
  creditInvoiceByNote,
  allocateNote,
  refundNote,
  writeOff,
  takeBackWriteOff,
  voidInvoice
]

export const guardNames = operations.flatMap((operation) => operation.guardNames)
