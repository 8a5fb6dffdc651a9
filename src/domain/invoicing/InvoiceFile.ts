import type { Invoice } from "./Invoice.ts"

/** What the PDF of an issued invoice depends on beside what never changes: whether it is marked as void. */
export type FileVariant = "ISSUED" | "VOID"

/** The variant that shows an invoice as it is, or undefined for one that was never issued. */
export const variantOf = ({ invoiceNumber, status }: Pick<Invoice, "invoiceNumber" | "status">) => {
  if (invoiceNumber === undefined) return undefined
  return status === "VOID" ? "VOID" : "ISSUED"
}

/** The invoice as a variant shows it. */
export const asVariant = (invoice: Invoice, variant: FileVariant): Invoice => ({
  ...invoice,
  status: variant === "VOID" ? "VOID" : "FINALIZED"
})
