import { assert, beforeAll, describe, it } from "vitest"
import type { InvoiceDocument } from "../../../../src/domain/invoicing/document/InvoiceDocument.ts"
import { formatAmount } from "../../../../src/domain/money/AmountFormat.ts"
import { assertNoOverflow } from "../../../support/assertions/pdfLayout.ts"
import { type PdfPage, rowsOf, textsOf } from "../../../support/assertions/pdfText.ts"
import {
  difficultLines,
  documentOf,
  lineOf,
  maxLengthParties,
  typicalLines
} from "../../../support/fixtures/invoiceDocuments.ts"
import { renderInvoice } from "../../../support/fixtures/renderedInvoice.ts"

const tableHeader = ["#", "Description", "Quantity", "Unit price", "Amount"]
const maxAmount = Number.MAX_SAFE_INTEGER
const longParties = (character: string) => ({ ...maxLengthParties(false), contract: { name: character.repeat(255) } })

const documents: Readonly<Record<string, InvoiceDocument>> = {
  "one line": documentOf({}),
  "no lines": documentOf({ lines: [] }),
  "a draft of forty lines": documentOf({ lines: typicalLines(40), invoice: { status: "DRAFT" } }),
  "sixty lines with long texts": documentOf({ lines: difficultLines("EUR", 60) }),
  "lines in a currency with three decimals": documentOf({
    lines: difficultLines("KWD", 20),
    invoice: { currencyCode: "KWD" }
  }),
  "lines in a currency without decimals": documentOf({
    lines: difficultLines("JPY", 20),
    invoice: { currencyCode: "JPY", status: "VOID" }
  }),
  "party names of maximum length": documentOf({
    parties: maxLengthParties(true),
    invoice: { invoiceNumber: "N".repeat(100) }
  }),
  "party names without spaces": documentOf({ parties: longParties("W"), lines: typicalLines(30) }),
  "the largest total": documentOf({ invoice: { subtotalMinor: -maxAmount, totalMinor: -maxAmount } })
}

/** The row index of the table header on a page, or -1. */
const findTableHeader = (page: PdfPage) => rowsOf(page).findIndex((row) => row.join() === tableHeader.join())

const hasTotals = (page: PdfPage) => textsOf(page).some((text) => text.startsWith("Total "))

/** All text of the table in order, without spaces, so that wrapped texts are whole. */
const tableText = (pages: ReadonlyArray<PdfPage>) =>
  pages
    .flatMap((page) => {
      const texts = textsOf(page)
      const footer = texts.findIndex((text) => text.includes(" · "))
      return texts.slice(texts.indexOf("Description") + 1, footer)
    })
    .join("")
    .replace(/\s/g, "")

describe.each(Object.entries(documents))("The PDF of an invoice with %s", (_, document) => {
  let pages: ReadonlyArray<PdfPage>
  beforeAll(async () => {
    pages = await renderInvoice(document)
  })

  it("keeps all texts within the margins and without overlap", () => {
    for (const page of pages) {
      assert.deepStrictEqual([page.width, page.height], [595.28, 841.89])
      assertNoOverflow(page)
    }
  })

  it("numbers its pages", () => {
    for (const [index, page] of pages.entries()) {
      assert.include(textsOf(page), `Page ${index + 1} of ${pages.length}`)
    }
  })

  it("repeats the table header on each page of the table and prints the totals once at the end", () => {
    const first = pages.findIndex((page) => findTableHeader(page) >= 0)
    assert.isTrue(first >= 0)
    for (const page of pages.slice(first)) assert.isTrue(findTableHeader(page) >= 0)
    assert.deepStrictEqual(
      pages.map(hasTotals),
      pages.map((page) => page === pages.at(-1))
    )
  })

  it("prints every amount unbroken, with the decimals of its currency", () => {
    const { invoice, lines } = document
    const texts = pages.flatMap(textsOf)
    const amounts = [
      ...lines.flatMap(({ amountMinor, lineTotalMinor }) => [amountMinor, lineTotalMinor]),
      invoice.subtotalMinor,
      invoice.totalMinor
    ]
    for (const amount of amounts) assert.include(texts, formatAmount(amount, invoice.currencyCode))
    assert.include(texts, `Total ${invoice.currencyCode}`)
  })
})

describe("The table of an invoice PDF", () => {
  it("has each line's number, name, quantity, price and amount in a row", async () => {
    const lines = typicalLines(300)
    const rows = (await renderInvoice(documentOf({ lines }))).flatMap(rowsOf).map((row) => row.join("|"))
    for (const [index, { amountMinor, lineTotalMinor, name, quantity }] of lines.entries()) {
      const amounts = [amountMinor, lineTotalMinor].map((amount) => formatAmount(amount, "EUR"))
      assert.include(rows, [index + 1, name, quantity, ...amounts].join("|"))
    }
  })

  it.each([
    [1234.123456789012, "1,234.123456789012"],
    [-1234567, "-1,234,567"],
    [1e-12, "0.000000000001"],
    [-0.5, "-0.5"],
    [0, "0"],
    [maxAmount, "9,007,199,254,740,991"]
  ])("prints the quantity %d without an exponent", async (quantity, text) => {
    const pages = await renderInvoice(documentOf({ lines: [lineOf({ quantity, amountMinor: 1 })] }))
    assert.include(pages.flatMap(textsOf), text)
  })

  it("prints texts completely that exceed a line or a page", async () => {
    const letters = Array.from({ length: 1024 }, (_, index) => String.fromCharCode(97 + ((index * 7) % 26))).join("")
    const lines = [
      lineOf({ name: letters.slice(0, 255) }),
      lineOf({ name: "Solid", description: letters }),
      lineOf({ name: "Spaced", description: letters.replace(/(.{7})/g, "$1 ").slice(0, 1024) }),
      lineOf({ name: "Stacked", description: letters.slice(0, 512).split("").join("\n") }),
      lineOf({ name: "Referred", referenceType: "ORDER", referenceId: letters.slice(0, 100) })
    ]
    const pages = await renderInvoice(documentOf({ lines }))
    assert.isAbove(pages.length, 1)
    const text = tableText(pages)
    for (const { description, name, referenceId } of lines) {
      for (const part of [name, description, referenceId]) {
        if (part !== undefined) assert.include(text, part.replace(/\s/g, ""))
      }
    }
  })

  it("prints its last line on the page of the totals", async () => {
    for (let count = 18; count < 30; count++) {
      const pages = await renderInvoice(documentOf({ lines: typicalLines(count) }))
      assert.include(textsOf(pages.at(-1) ?? assert.fail()), `Inspection of station ${count}`)
    }
  })
})
