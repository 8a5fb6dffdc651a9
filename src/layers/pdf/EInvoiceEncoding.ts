import { formatCii } from "../../domain/eInvoice/CiiXml.ts"
import type { EInvoiceSyntax } from "../../domain/eInvoice/EInvoiceCheck.ts"
import { toEInvoice } from "../../domain/eInvoice/EInvoiceMapping.ts"
import type { EInvoiceSource } from "../../domain/eInvoice/EInvoiceSource.ts"
import { findReadinessErrors } from "../../domain/eInvoice/Readiness.ts"
import { formatUbl } from "../../domain/eInvoice/UblXml.ts"

/** A document whose e-invoice is wanted in a syntax; without one, the rules that it does not meet. */
export interface EInvoiceDocument {
  readonly eInvoice: EInvoiceSource
  readonly syntax?: EInvoiceSyntax | undefined
}

const formatters = { cii: formatCii, ubl: formatUbl }

/** The XML, or the unmet rules as JSON. */
export const encodeEInvoice = ({ eInvoice, syntax }: EInvoiceDocument) => {
  const invoice = toEInvoice(eInvoice)
  const text = syntax === undefined ? JSON.stringify(findReadinessErrors(invoice)) : formatters[syntax](invoice)
  return new TextEncoder().encode(text)
}
