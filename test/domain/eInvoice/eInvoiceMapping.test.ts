import { build } from "esbuild"
import fc from "fast-check"
import { assert, describe, it } from "vitest"
import type { AllowanceCharge, EInvoice } from "../../../src/domain/eInvoice/EInvoice.ts"
import { convertTax } from "../../../src/domain/eInvoice/EInvoiceAmounts.ts"
import { toEInvoice } from "../../../src/domain/eInvoice/EInvoiceMapping.ts"
import type { EInvoiceSource } from "../../../src/domain/eInvoice/EInvoiceSource.ts"
import { BillableId } from "../../../src/domain/invoicing/Billable.ts"
import { exactLineTotal } from "../../support/assertions/exactMoney.ts"
import {
  creditNoteSource,
  defaultBuyer,
  defaultSeller,
  eInvoiceSource,
  type LineTerms
} from "../../support/fixtures/eInvoices.ts"
import { documentOf } from "../../support/fixtures/invoiceDocuments.ts"
import { eInvoiceSources } from "../../support/fixtures/randomEInvoices.ts"

const standardLine: LineTerms = { rates: ["standard"], quantity: 2, amountMinor: 8800 }

const firstLineOf = ({ lines: [line] }: EInvoice) => line ?? assert.fail("has no lines")

const creditOf = (source: ReturnType<typeof eInvoiceSource>, credit: { quantity: number } | { amountMinor: number }) =>
  toEInvoice(
    creditNoteSource(source, {
      full: false,
      lines: [{ billable: BillableId.make("bil_1"), amountMinor: 0, ...credit }]
    }) ?? assert.fail("cannot be credited")
  )

/** Charges less allowances. */
const balanceOf = (items: ReadonlyArray<AllowanceCharge>) =>
  items.reduce((sum, { amountMinor, isCharge }) => sum + (isCharge ? amountMinor : -amountMinor), 0)

describe("The lines of an e-invoice", () => {
  it("have a price that is not negative, and a quantity with its sign", () => {
    const { netMinor, priceMinor, quantity } = firstLineOf(
      toEInvoice(eInvoiceSource({ lines: [{ ...standardLine, quantity: 2.5, amountMinor: -8800 }] }))
    )
    assert.deepStrictEqual(
      { netMinor, priceMinor, quantity },
      { netMinor: -22_000, priceMinor: 8800, quantity: "-2.5" }
    )
  })

  it("have the discount as an allowance with its reason, or else with the code 95", () => {
    const line = { ...standardLine, discount: { percent: 10 } }
    const allowancesOf = (terms: LineTerms) => firstLineOf(toEInvoice(eInvoiceSource({ lines: [terms] }))).allowances
    assert.deepStrictEqual(allowancesOf(line), [{ isCharge: false, amountMinor: 1760, reasonCode: "95" }])
    assert.deepStrictEqual(allowancesOf({ ...line, fields: { discountReason: "Loyalty" } }), [
      { isCharge: false, amountMinor: 1760, reason: "Loyalty" }
    ])
  })

  it("are a credited quantity with its share of the discount as an allowance", () => {
    const source = eInvoiceSource({ lines: [{ ...standardLine, discount: { percent: 10 } }] })
    const { allowances, netMinor, priceMinor, quantity } = firstLineOf(creditOf(source, { quantity: 1 }))
    assert.deepStrictEqual(
      { allowances, netMinor, priceMinor, quantity },
      {
        allowances: [{ isCharge: false, amountMinor: 880, reasonCode: "95" }],
        netMinor: 7920,
        priceMinor: 8800,
        quantity: "1"
      }
    )
  })

  it("are one unit when they are credited by amount", () => {
    const source = eInvoiceSource({ lines: [{ ...standardLine, fields: { unitCode: "HUR" } }] })
    const { netMinor, priceMinor, quantity, unitCode } = firstLineOf(creditOf(source, { amountMinor: 500 }))
    assert.deepStrictEqual(
      { netMinor, priceMinor, quantity, unitCode },
      { netMinor: 500, priceMinor: 500, quantity: "1", unitCode: "C62" }
    )
  })

  it("come to quantity times price, less allowances, plus charges", () => {
    fc.assert(
      fc.property(eInvoiceSources, (source) => {
        for (const { allowances, netMinor, priceMinor, quantity } of toEInvoice(source).lines)
          assert.strictEqual(Number(exactLineTotal(Number(quantity), priceMinor)) + balanceOf(allowances), netMinor)
      })
    )
  })
})

describe("The VAT breakdown of an e-invoice", () => {
  it("has one allowance for the invoice discount on each category and rate", () => {
    const { allowances } = toEInvoice(
      eInvoiceSource({
        lines: [standardLine, { ...standardLine, rates: ["sameRate"] }, { ...standardLine, rates: ["zero"] }],
        discount: { percent: 10 },
        invoice: { discountReason: "Loyalty" }
      })
    )
    assert.deepStrictEqual(allowances, [
      { isCharge: false, amountMinor: 3520, reason: "Loyalty", vat: { category: "S", percent: 19 } },
      { isCharge: false, amountMinor: 1760, reason: "Loyalty", vat: { category: "Z", percent: 0 } }
    ])
  })

  it("has as base the lines of its category and rate, less allowances, plus charges", () => {
    fc.assert(
      fc.property(eInvoiceSources, (source) => {
        const { allowances, lines, vatBreakdown } = toEInvoice(source)
        for (const { baseMinor, category, percent } of vatBreakdown) {
          const isSame = ({ vat }: { readonly vat?: EInvoice["lines"][number]["vat"] }) =>
            vat?.category === category && vat.percent === percent
          const nets = lines.filter(isSame).reduce((sum, { netMinor }) => sum + netMinor, 0)
          assert.strictEqual(nets + balanceOf(allowances.filter(isSame)), baseMinor)
        }
      })
    )
  })

  it("of a credit note has rows for lines that come to nothing", () => {
    const source = eInvoiceSource({
      lines: [standardLine, { ...standardLine, rates: ["zero"] }, { ...standardLine, rates: ["zero"], quantity: -2 }]
    })
    const { vatBreakdown } = toEInvoice(creditNoteSource(source, { full: true }) ?? assert.fail("cannot be credited"))
    assert.deepStrictEqual(
      vatBreakdown.map(({ baseMinor, category }) => `${category} ${baseMinor}`),
      ["S 17600", "Z 0"]
    )
  })
})

describe("The tax in the tax currency", () => {
  it.each([
    ["SEK", "EUR", 0.0891234, 10_000, 891],
    ["EUR", "EUR", 1, -12_345, -12_345],
    ["JPY", "EUR", 0.00625, 1000, 625],
    ["EUR", "JPY", 160.5, 1050, 1685],
    ["KWD", "EUR", 3, 1005, 302]
  ])(
    "is converted from %s to %s between major units and rounded once",
    (currencyCode, taxCurrencyCode, rate, tax, expected) => {
      const invoice = { ...eInvoiceSource({ lines: [] }).invoice, currencyCode, taxCurrencyCode, taxCurrencyRate: rate }
      assert.strictEqual(convertTax(tax, invoice), expected)
    }
  )

  it("is missing without a rate", () => {
    assert.isUndefined(convertTax(100, { ...eInvoiceSource({ lines: [] }).invoice, taxCurrencyCode: "EUR" }))
  })
})

describe("An e-invoice", () => {
  it("has the days of the tenant's time zone", () => {
    const { dueDate, issueDate } = toEInvoice(
      eInvoiceSource({
        lines: [standardLine],
        invoice: { issuedAt: "2026-12-31T23:30:00.000Z", dueAt: "2027-01-30T22:59:00.000Z" }
      })
    )
    assert.deepStrictEqual({ dueDate, issueDate }, { dueDate: "2027-01-30", issueDate: "2027-01-01" })
  })

  it("has the tax in the tax currency, rounded once", () => {
    const { taxCurrency } = toEInvoice(
      eInvoiceSource({
        lines: [standardLine],
        invoice: { currencyCode: "SEK", taxCurrencyCode: "EUR", taxCurrencyRate: 0.0875 }
      })
    )
    assert.deepStrictEqual(taxCurrency, { code: "EUR", taxMinor: 293 })
  })

  it("shows no VAT numbers if all of it is outside the scope of VAT", () => {
    const { buyer, seller } = toEInvoice(eInvoiceSource({ lines: [{ ...standardLine, rates: ["outside"] }] }))
    assert.deepStrictEqual([seller.vatNumber, buyer.vatNumber], [undefined, undefined])
    assert.strictEqual(seller.registrationNumber, "HRB 12345")
  })

  it("names the legal entity, and the party as its trading name if it differs", () => {
    const { buyer, seller } = toEInvoice(
      eInvoiceSource({
        lines: [standardLine],
        parties: { tenant: { ...defaultSeller, name: "Harbour Works AS" }, client: defaultBuyer }
      })
    )
    assert.deepStrictEqual([seller.name, seller.tradingName], ["Harbour Works AS", undefined])
    assert.deepStrictEqual([buyer.name, buyer.tradingName], ["Northwind Trading SARL", "Northwind"])
  })

  it("of a credit note refers to the invoice and asks for no payment", () => {
    const { dueDate, note, payment, paymentTerms, precedingInvoice, typeCode } = creditOf(
      eInvoiceSource({ lines: [standardLine] }),
      { quantity: 1 }
    )
    assert.deepStrictEqual(
      { dueDate, note, payment, paymentTerms, precedingInvoice, typeCode },
      {
        dueDate: undefined,
        note: "One pump was not inspected",
        payment: undefined,
        paymentTerms: "Credit for invoice INV-2026-000042",
        precedingInvoice: { number: "INV-2026-000042", issueDate: "2026-03-02" },
        typeCode: "381"
      }
    )
  })

  it("is made of the same document as the PDF", () => {
    const document: EInvoiceSource = documentOf({})
    assert.strictEqual(toEInvoice(document).totals.grossMinor, 12_500)
  })

  it("can be made in a browser", async () => {
    const names = ["EInvoiceMapping", "readiness/Readiness", "xml/CiiXml", "xml/UblXml"]
    const { errors } = await build({
      stdin: {
        contents: names.map((name) => `export * from "./${name}.ts"`).join("\n"),
        resolveDir: "src/domain/eInvoice"
      },
      bundle: true,
      write: false,
      platform: "browser",
      format: "esm"
    })
    assert.deepStrictEqual(errors, [])
  })
})
