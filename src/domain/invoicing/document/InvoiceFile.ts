import type { Invoice } from "../Invoice.ts"

/** The variant of an issued invoice's PDF. The VOID mark is the only part of the PDF that can change. */
export type FileVariant = "ISSUED" | "VOID"

/** The files that are rendered in the background. */
export type QueuedFile = FileVariant | "CREDIT_NOTE"

/** The variant for the current status. An invoice that was never issued has none. */
export const variantOf = ({ invoiceNumber, status }: Pick<Invoice, "invoiceNumber" | "status">) => {
  if (invoiceNumber === undefined) return undefined
  return status === "VOID" ? "VOID" : "ISSUED"
}

/** The invoice with the status that the variant shows. */
export const asVariant = (invoice: Invoice, variant: FileVariant): Invoice => ({
  ...invoice,
  status: variant === "VOID" ? "VOID" : "FINALIZED"
})
