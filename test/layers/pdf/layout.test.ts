import { assert, beforeAll, describe, it } from "vitest"
import type { InvoiceDocument } from "../../../src/domain/invoicing/InvoiceDocument.ts"
import { formatAmount } from "../../../src/domain/money/Money.ts"
import { type PdfPage, rowsOf, type TextPiece, textsOf } from "../../support/assertions/pdfText.ts"
import {
  difficultLines,
  documentOf,
  lineOf,
  maxLengthParties,
  typicalLines
} from "../../support/fixtures/invoiceDocuments.ts"
import { renderInvoice } from "../../support/fixtures/renderedInvoice.ts"

const margin = 48
const head = ["#", "Description", "Quantity", "Unit price", "Amount"]
const most = Number.MAX_SAFE_INTEGER
const wide = (character: string) => ({ ...maxLengthParties(false), contract: { name: character.repeat(255) } })

const documents: Readonly<Record<string, InvoiceDocument>> = {
  "one line": documentOf({}),
  "no lines": documentOf({ lines: [] }),
  "a draft of forty lines": documentOf({ lines: typicalLines(40), invoice: { status: "DRAFT" } }),
  "sixty lines that are hard to place": documentOf({ lines: difficultLines("EUR", 60) }),
  "the same in a currency of three decimals": documentOf({
    lines: difficultLines("KWD", 20),
    invoice: { currencyCode: "KWD" }
  }),
  "the same in a currency without decimals": documentOf({
    lines: difficultLines("JPY", 20),
    invoice: { currencyCode: "JPY", status: "VOID" }
  }),
  "the longest parties": documentOf({ parties: maxLengthParties(true), invoice: { invoiceNumber: "N".repeat(100) } }),
  "the longest parties in words without end": documentOf({ parties: wide("W"), lines: typicalLines(30) }),
  "the largest total": documentOf({ invoice: { subtotalMinor: -most, totalMinor: -most } })
}

const overlap = (one: TextPiece, other: TextPiece) =>
  Math.min(one.right, other.right) - Math.max(one.left, other.left) > 0.5 &&
  Math.min(one.bottom, other.bottom) - Math.max(one.top, other.top) > 0.5

const assertTidy = ({ height, pieces, width }: PdfPage) => {
  for (const [index, piece] of pieces.entries()) {
    const { bottom, left, right, text, top } = piece
    assert.isTrue(left >= margin - 0.01 && right <= width - margin + 0.01, `beside the page's room: ${text}`)
    assert.isTrue(top >= margin - 0.01 && bottom <= height - margin + 0.01, `above or below the page's room: ${text}`)
    const hit = pieces.slice(index + 1).find((other) => overlap(piece, other))
    assert.isUndefined(hit, `${text} is written over by ${hit?.text}`)
  }
}

/** Where the table begins on a page, if it is there. */
const headOf = (page: PdfPage) => rowsOf(page).findIndex((row) => row.join() === head.join())

const hasTotals = (page: PdfPage) => textsOf(page).some((text) => text.startsWith("Total "))

/** Everything in the table, in the order it is written and without spaces: what wraps over lines and pages too. */
const tableText = (pages: ReadonlyArray<PdfPage>) =>
  pages
    .flatMap((page) => {
      const texts = textsOf(page)
      const footer = texts.findIndex((text) => text.includes(" · "))
      return texts.slice(texts.indexOf("Description") + 1, footer)
    })
    .join("")
    .replace(/\s/g, "")

describe.each(Object.entries(documents))("an invoice with %s", (_, document) => {
  let pages: ReadonlyArray<PdfPage>
  beforeAll(async () => {
    pages = await renderInvoice(document)
  })

  it("keeps every text inside the margins and off every other", () => {
    for (const page of pages) {
      assert.deepStrictEqual([page.width, page.height], [595.28, 841.89])
      assertTidy(page)
    }
  })

  it("tells the page and how many there are on each", () => {
    for (const [index, page] of pages.entries()) {
      assert.include(textsOf(page), `Page ${index + 1} of ${pages.length}`)
    }
  })

  it("has the head of the table on every page from its first to its last, and its totals once, at the end", () => {
    const first = pages.findIndex((page) => headOf(page) >= 0)
    assert.isTrue(first >= 0)
    for (const page of pages.slice(first)) assert.isTrue(headOf(page) >= 0)
    assert.deepStrictEqual(
      pages.map(hasTotals),
      pages.map((page) => page === pages.at(-1))
    )
  })

  it("writes every number in one piece, in the currency's own decimals", () => {
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

describe("the table of an invoice", () => {
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
    [most, "9,007,199,254,740,991"]
  ])("writes the quantity %d out", async (quantity, text) => {
    const pages = await renderInvoice(documentOf({ lines: [lineOf({ quantity, amountMinor: 1 })] }))
    assert.include(pages.flatMap(textsOf), text)
  })

  it("leaves nothing out of what is too long for a line or for a page", async () => {
    const letters = Array.from({ length: 1024 }, (_, index) => String.fromCharCode(97 + ((index * 7) % 26))).join("")
    const lines = [
      lineOf({ name: letters.slice(0, 255) }),
      lineOf({ name: "Solid", description: letters }),
      lineOf({ name: "Spaced", description: letters.replace(/(.{7})/g, "$1 ").slice(0, 1024) }),
      lineOf({ name: "Stacked", description: letters.slice(0, 512).split("").join("\n") }),
      lineOf({ name: "Referred", referenceType: "ORDER", referenceId: letters.slice(0, 100) })
    ]
    const pages = await renderInvoice(documentOf({ lines }))
    assert.isTrue(pages.length > 5)
    const text = tableText(pages)
    for (const { description, name, referenceId } of lines) {
      for (const part of [name, description, referenceId]) {
        if (part !== undefined) assert.include(text, part.replace(/\s/g, ""))
      }
    }
  })

  it("takes its last line along to the page of the totals", async () => {
    for (let count = 18; count < 30; count++) {
      const pages = await renderInvoice(documentOf({ lines: typicalLines(count) }))
      assert.include(textsOf(pages.at(-1) ?? assert.fail()), `Inspection of station ${count}`)
    }
  })
})
