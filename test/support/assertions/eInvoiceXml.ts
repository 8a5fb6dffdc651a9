import { readFileSync } from "node:fs"
import { createRequire } from "node:module"
import { XmlDocument, XmlParseError, XmlValidateError, XsdValidator } from "libxml2-wasm"
import { xmlRegisterFsInputProviders } from "libxml2-wasm/lib/nodejs.mjs"
import type { EInvoiceSource } from "../../../src/domain/eInvoice/EInvoiceSource.ts"
import { formatCii } from "../../../src/domain/eInvoice/xml/CiiXml.ts"
import { formatUbl } from "../../../src/domain/eInvoice/xml/UblXml.ts"

/** Both syntaxes of an e-invoice. */
export const syntaxes = { cii: formatCii, ubl: formatUbl }
export type Syntax = keyof typeof syntaxes

/** Runs with the parsed document and frees its memory, which the garbage collector does not see. */
const withDocument = <A>(xml: string, use: (document: XmlDocument) => A): A => {
  const document = XmlDocument.fromString(xml)
  try {
    return use(document)
  } finally {
    document.dispose()
  }
}

/** Whether a parser can read the document. */
export const isWellFormed = (xml: string) => {
  try {
    return withDocument(xml, () => true)
  } catch (error) {
    if (error instanceof XmlParseError) return false
    throw error
  }
}

/** A function that lists what the official schema of CII says against a document. */
export const makeCiiSchemaCheck = () => {
  // The schema imports others from its folder.
  xmlRegisterFsInputProviders()
  const entry = createRequire(import.meta.url).resolve("@stackforge-eu/factur-x")
  const path = entry.replace(/dist[\\/].*$/, "schema/en16931/FACTUR-X_EN16931.xsd")
  const schema = XmlDocument.fromBuffer(readFileSync(path), { url: path })
  const validator = XsdValidator.fromDoc(schema)
  return (xml: string): ReadonlyArray<string> =>
    withDocument(xml, (document) => {
      try {
        validator.validate(document)
        return []
      } catch (error) {
        if (error instanceof XmlValidateError) return error.details.map(({ message }) => message.trim())
        throw error
      }
    })
}

/** XPath of each total, relative to the element that has them. */
const paths = {
  cii: {
    root: "//*[local-name()='SpecifiedTradeSettlementHeaderMonetarySummation']",
    lines: "LineTotalAmount",
    allowances: "AllowanceTotalAmount",
    charges: "ChargeTotalAmount",
    net: "TaxBasisTotalAmount",
    gross: "GrandTotalAmount",
    paid: "TotalPrepaidAmount",
    due: "DuePayableAmount"
  },
  ubl: {
    root: "//*[local-name()='LegalMonetaryTotal']",
    lines: "LineExtensionAmount",
    allowances: "AllowanceTotalAmount",
    charges: "ChargeTotalAmount",
    net: "TaxExclusiveAmount",
    gross: "TaxInclusiveAmount",
    paid: "PrepaidAmount",
    due: "PayableAmount"
  }
} as const

/** The VAT total in the currency of the invoice, and the rows of the VAT breakdown. */
const taxPaths = {
  cii: {
    total: (currency: string) => `//*[local-name()='TaxTotalAmount'][@currencyID='${currency}']`,
    rows: "//*[local-name()='ApplicableHeaderTradeSettlement']/*[local-name()='ApplicableTradeTax']",
    row: ["CategoryCode", "BasisAmount", "CalculatedAmount"]
  },
  ubl: {
    total: (currency: string) => `/*/*[local-name()='TaxTotal']/*[local-name()='TaxAmount'][@currencyID='${currency}']`,
    rows: "//*[local-name()='TaxSubtotal']",
    row: ["ID", "TaxableAmount", "TaxAmount"]
  }
} as const

/** Minor units of an amount with at most two decimals. It parses the digits, so that no float is in between. */
const toMinor = (amount: string) => {
  const [, sign, whole, fraction] = /^(-?)(\d+)\.(\d\d)$/.exec(amount) ?? []
  if (whole === undefined) throw new Error(`${amount} has not two decimals`)
  return Number(`${sign}${whole}${fraction}`)
}

/** The totals that an XML document states, in minor units. */
export const readTotals = (xml: string, syntax: Syntax, currencyCode: string) =>
  withDocument(xml, (document) => {
    const textOf = (xpath: string) => document.get(xpath)?.content
    const { root, ...names } = paths[syntax]
    const amountOf = (name: string) => toMinor(textOf(`${root}/*[local-name()='${name}']`) ?? "0.00")
    const { row, rows, total } = taxPaths[syntax]
    const taxes = document.find(rows).map((_, index) => {
      const [category, base, tax] = row.map(
        (name) => textOf(`(${rows})[${index + 1}]//*[local-name()='${name}']`) ?? ""
      )
      return { category, baseMinor: toMinor(base ?? ""), taxMinor: toMinor(tax ?? "") }
    })
    return {
      linesMinor: amountOf(names.lines),
      discountMinor: amountOf(names.allowances) - amountOf(names.charges),
      netMinor: amountOf(names.net),
      taxMinor: toMinor(textOf(total(currencyCode)) ?? ""),
      grossMinor: amountOf(names.gross),
      paidMinor: amountOf(names.paid),
      dueMinor: amountOf(names.due),
      // A credit note of the API leaves out what comes to nothing.
      taxes: taxes.filter(({ baseMinor, taxMinor }) => baseMinor !== 0 || taxMinor !== 0)
    }
  })

/** The same totals, as the API has them. */
export const expectedTotals = ({ creditNote, invoice }: EInvoiceSource): ReturnType<typeof readTotals> => {
  const { discountMinor, subtotalMinor, taxes, taxMinor, totalMinor } = creditNote ?? invoice
  return {
    linesMinor: subtotalMinor,
    discountMinor,
    netMinor: subtotalMinor - discountMinor,
    taxMinor,
    grossMinor: totalMinor,
    paidMinor: 0,
    dueMinor: totalMinor,
    taxes: taxes
      .map(({ baseMinor, category, taxMinor }) => ({ category, baseMinor, taxMinor }))
      .filter(({ baseMinor, taxMinor }) => baseMinor !== 0 || taxMinor !== 0)
  }
}
