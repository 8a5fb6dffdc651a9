import type { Schemas } from "../../api/client.ts"

interface Titled {
  readonly invoiceNumber?: string | undefined
  readonly status: Schemas["Invoice"]["status"]
}

/** How lists and headings call an invoice. A draft that was voided never got a number. */
export const invoiceTitle = ({ invoiceNumber, status }: Titled) =>
  invoiceNumber ?? (status === "DRAFT" ? "Draft" : "Without number")
