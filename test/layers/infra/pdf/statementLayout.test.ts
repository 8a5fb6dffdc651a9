import { assert, describe, it } from "vitest"
import { ClientId } from "../../../../src/domain/contracting/Client.ts"
import { type BookedEntry, toCurrencyStatements } from "../../../../src/domain/reports/Statement.ts"
import type { StatementDocument } from "../../../../src/domain/reports/StatementDocument.ts"
import { drawStatement } from "../../../../src/layers/infra/pdf/drawing/StatementLayout.ts"
import { assertNoOverflow } from "../../../support/assertions/pdfLayout.ts"
import { type PdfPage, readPdf, rowsOf, textsOf } from "../../../support/assertions/pdfText.ts"
import { maxLengthParties } from "../../../support/fixtures/invoiceDocuments.ts"
import { fonts } from "../../../support/fixtures/renderedInvoice.ts"

const tableHead = ["Date", "Entry", "Amount", "Balance"]

const entries = (count: number, fields: Partial<BookedEntry> = {}): ReadonlyArray<BookedEntry> =>
  Array.from({ length: count }, (_, index) => ({
    currencyCode: "EUR",
    bookedAt: "2026-11-14T09:30:00.000Z",
    kind: "INVOICE",
    documentNumber: `N-${index + 1}`,
    invoice: null,
    payment: null,
    creditNote: null,
    amountMinor: 123_456,
    ...fields
  }))

const documentOf = (
  booked: ReadonlyArray<BookedEntry>,
  openings: Readonly<Record<string, number>> = {},
  parties: StatementDocument["parties"] = { tenant: { name: "Harbour Works" }, client: { name: "Northwind" } }
): StatementDocument => ({
  statement: {
    client: ClientId.make("clnt_1"),
    from: "2026-11-01",
    to: "2026-11-30",
    currencies: toCurrencyStatements(
      Object.entries(openings).map(([currencyCode, openingMinor]) => ({ currencyCode, openingMinor })),
      booked,
      "UTC"
    )
  },
  parties
})

const draw = async (document: StatementDocument) => (await readPdf(await drawStatement(fonts, document))).pages

const documents: Readonly<Record<string, StatementDocument>> = {
  "no entries": documentOf([]),
  "three entries": documentOf(entries(3)),
  "200 entries": documentOf(entries(200)),
  "many currencies": documentOf(
    ["CHF", "EUR", "JPY", "KWD", "USD"].flatMap((currencyCode) => entries(9, { currencyCode })),
    { CHF: -5 }
  ),
  "the largest balances": documentOf(entries(2, { amountMinor: -1 }), { EUR: -Number.MAX_SAFE_INTEGER + 2 }),
  "references of maximum length": documentOf(entries(20, { kind: "PAYMENT", documentNumber: "W".repeat(200) })),
  "party names of maximum length": documentOf(entries(3), {}, maxLengthParties(true))
}

describe("The layout of a statement", () => {
  for (const [name, document] of Object.entries(documents)) {
    it(`fits its pages with ${name}`, async () => {
      for (const page of await draw(document)) assertNoOverflow(page)
    })
  }

  it("repeats the head of the table, and has every entry once", async () => {
    const pages = await draw(documentOf(entries(200)))
    assert.isAbove(pages.length, 3)
    const hasHead = (page: PdfPage) => rowsOf(page).some((row) => row.join() === tableHead.join())
    assert.isTrue(pages.slice(0, -1).every(hasHead))
    const shown = pages.flatMap(textsOf).filter((text) => text.startsWith("Invoice N-"))
    assert.deepStrictEqual(
      shown,
      Array.from({ length: 200 }, (_, index) => `Invoice N-${index + 1}`)
    )
  })

  it("shows the balances before, after each entry and at the end", async () => {
    const [page] = await draw(documentOf(entries(2, { amountMinor: -50 }), { EUR: 120 }))
    const rows = rowsOf(page ?? assert.fail("no page"))
    const table = rows.slice(rows.findIndex((row) => row.join() === tableHead.join()) + 1, -1)
    assert.deepStrictEqual(table.slice(0, 4), [
      ["2026-11-01", "Opening balance", "1.20"],
      ["2026-11-14", "Invoice N-1", "-0.50", "0.70"],
      ["2026-11-14", "Invoice N-2", "-0.50", "0.20"],
      ["2026-11-30", "Closing balance", "0.20"]
    ])
  })

  it("is the same file for the same statement", async () => {
    const document = documentOf(entries(3))
    const [first, second] = [await drawStatement(fonts, document), await drawStatement(fonts, document)]
    assert.isTrue(Buffer.from(first).equals(second))
  })
})
