import fc from "fast-check"
import { XmlDocument } from "libxml2-wasm"
import { assert, describe, it } from "vitest"
import { toEInvoice } from "../../../../src/domain/eInvoice/EInvoiceMapping.ts"
import { formatAmount, isXmlText } from "../../../../src/domain/eInvoice/Texts.ts"
import { formatUbl } from "../../../../src/domain/eInvoice/xml/UblXml.ts"
import { element, formatXml, requiredElement } from "../../../../src/domain/eInvoice/xml/Xml.ts"
import { creditNoteSource, defaultBuyer, defaultSeller, eInvoiceSource } from "../../../support/fixtures/eInvoices.ts"

describe("The XML writer", () => {
  it("writes texts and attributes that a parser reads back as they were", () => {
    const texts = fc.string({ unit: "binary" }).filter(isXmlText)
    fc.assert(
      fc.property(texts, texts, (text, attribute) => {
        const document = XmlDocument.fromString(formatXml(requiredElement("a", [element("b", text, { c: attribute })])))
        assert.strictEqual(document.get("/a/b")?.content, text)
        assert.strictEqual(document.get("/a/b/@c")?.content, attribute)
        document.dispose()
      })
    )
  })

  it("leaves out elements without content, unless the schema requires them", () => {
    const root = requiredElement("a", [
      element("b", undefined),
      element("c", [element("d", undefined)]),
      requiredElement("e", [])
    ])
    assert.strictEqual(formatXml(root), '<?xml version="1.0" encoding="UTF-8"?>\n<a>\n  <e/>\n</a>\n')
  })

  it("tells the characters that XML cannot contain", () => {
    for (const text of ["\u0000", "\u000b", "\u001f", "\ud800", "\uffff"]) assert.isFalse(isXmlText(`a${text}`))
    for (const text of ["\t\r\n", "\u007f", "🎉", "\ufffd"]) assert.isTrue(isXmlText(`a${text}`))
  })

  it("writes amounts with two decimals", () => {
    assert.deepStrictEqual([0, 5, -5, 100, -123_456].map(formatAmount), ["0.00", "0.05", "-0.05", "1.00", "-1234.56"])
  })
})

const line = { rates: ["withinEu"], quantity: 2, amountMinor: 8800, discount: { percent: 10 } } as const

/** An invoice with a value in every field. */
const fullSource = eInvoiceSource({
  lines: [{ ...line, fields: { description: "Both pumps" } }],
  discount: { percent: 5 },
  invoice: {
    currencyCode: "SEK",
    taxCurrencyCode: "EUR",
    taxCurrencyRate: 0.0875,
    buyerReference: "04011000-1234512345-06",
    purchaseOrder: "PO-4711",
    notes: "Thank you",
    serviceFrom: "2026-02-01",
    serviceTo: "2026-02-28",
    deliverToCountry: "FR"
  },
  parties: { tenant: { ...defaultSeller, billingContact: { name: "Ada" } }, client: defaultBuyer }
})

/** The names of the elements in the document element, each once. */
const partsOf = (xml: string) => [...new Set([...xml.matchAll(/^ {2}<([\w:]+)/gm)].map(([, name]) => name))]

const common = [
  "cac:InvoicePeriod",
  "cac:OrderReference",
  "cac:AccountingSupplierParty",
  "cac:AccountingCustomerParty",
  "cac:Delivery",
  "cac:AllowanceCharge",
  "cac:TaxTotal",
  "cac:LegalMonetaryTotal"
]

describe("UBL", () => {
  it("has the elements of an invoice in the order of the schema", () => {
    const parts = partsOf(formatUbl(toEInvoice(fullSource)))
    assert.deepStrictEqual(parts, [
      "cbc:CustomizationID",
      "cbc:ID",
      "cbc:IssueDate",
      "cbc:DueDate",
      "cbc:InvoiceTypeCode",
      "cbc:Note",
      "cbc:DocumentCurrencyCode",
      "cbc:TaxCurrencyCode",
      "cbc:BuyerReference",
      ...common.slice(0, 5),
      "cac:PaymentMeans",
      ...common.slice(5),
      "cac:InvoiceLine"
    ])
  })

  it("has the elements of a credit note in the order of the schema", () => {
    const source = creditNoteSource(fullSource, { full: true }) ?? assert.fail("cannot be credited")
    assert.deepStrictEqual(partsOf(formatUbl(toEInvoice(source))), [
      "cbc:CustomizationID",
      "cbc:ID",
      "cbc:IssueDate",
      "cbc:CreditNoteTypeCode",
      "cbc:Note",
      "cbc:DocumentCurrencyCode",
      "cbc:TaxCurrencyCode",
      "cbc:BuyerReference",
      ...common.slice(0, 2),
      "cac:BillingReference",
      ...common.slice(2, 5),
      "cac:PaymentTerms",
      ...common.slice(5),
      "cac:CreditNoteLine"
    ])
  })
})
