import type { EInvoice } from "./EInvoice.ts"
import { toEInvoice } from "./EInvoiceMapping.ts"
import type { EInvoiceSource } from "./EInvoiceSource.ts"
import { findReadinessErrors } from "./readiness/Readiness.ts"

/** Programs would book the XML of a void invoice, because the standard has no word for it. */
const isInForce = ({ creditNote, invoice }: EInvoiceSource) => {
  const { status } = creditNote ?? invoice
  return status !== "DRAFT" && status !== "VOID"
}

/** The e-invoice that the PDF of a document carries, or undefined where the PDF stays plain. */
export const toAttachedEInvoice = (source: EInvoiceSource): EInvoice | undefined => {
  if (!isInForce(source)) return undefined
  const invoice = toEInvoice(source)
  return findReadinessErrors(invoice).length === 0 ? invoice : undefined
}
