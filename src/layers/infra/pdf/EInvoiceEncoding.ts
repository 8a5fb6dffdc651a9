import type { EInvoice } from "../../../domain/eInvoice/EInvoice.ts"
import type { EInvoiceSyntax } from "../../../domain/eInvoice/EInvoiceCheck.ts"
import { toEInvoice } from "../../../domain/eInvoice/EInvoiceMapping.ts"
import type { EInvoiceSource } from "../../../domain/eInvoice/EInvoiceSource.ts"
import { toAttachedEInvoice } from "../../../domain/eInvoice/HybridInvoice.ts"
import { findReadinessErrors } from "../../../domain/eInvoice/readiness/Readiness.ts"
import { formatCii } from "../../../domain/eInvoice/xml/CiiXml.ts"
import { formatUbl } from "../../../domain/eInvoice/xml/UblXml.ts"

/** A document whose e-invoice is wanted in a syntax; without one, the rules that it does not meet. */
export interface EInvoiceDocument {
  readonly eInvoice: EInvoiceSource
  readonly syntax?: EInvoiceSyntax | undefined
}

const encodeText = (text: string) => new TextEncoder().encode(text)

const formatters = { cii: formatCii, ubl: formatUbl }

const encodeXml = (invoice: EInvoice, syntax: EInvoiceSyntax) => encodeText(formatters[syntax](invoice))

/** The XML, or the unmet rules as JSON. */
export const encodeEInvoice = ({ eInvoice, syntax }: EInvoiceDocument) => {
  const invoice = toEInvoice(eInvoice)
  return syntax === undefined ? encodeText(JSON.stringify(findReadinessErrors(invoice))) : encodeXml(invoice, syntax)
}

/** The XML to attach to the PDF of a document, if that is a hybrid. */
export const encodeAttachment = (source: EInvoiceSource) => {
  const invoice = toAttachedEInvoice(source)
  return invoice === undefined ? undefined : encodeXml(invoice, "cii")
}
