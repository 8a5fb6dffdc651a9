import fc from "fast-check"
import { assert, describe, it } from "vitest"
import { parseCells, parsePastedLines } from "../../../../src/domain/invoicing/draft/PastedLines.ts"

const quote = (cell: string) => (/["\t\n]/.test(cell) ? `"${cell.replaceAll('"', '""')}"` : cell)

describe("parseCells", () => {
  it("reads back what a spreadsheet copies, quotes and line breaks included", () => {
    const cell = fc.stringMatching(/^[a-z0-9 "\t\n,]{0,8}$/)
    fc.assert(
      fc.property(fc.array(fc.tuple(cell, cell), { maxLength: 5 }), (rows) => {
        const text = rows.map((cells) => cells.map(quote).join("\t")).join("\n")
        assert.deepStrictEqual(
          parseCells(text),
          rows.filter((cells) => cells.some((one) => one.trim() !== ""))
        )
      })
    )
  })

  it("reads the line ends of every system, and leaves out empty rows", () => {
    assert.deepStrictEqual(parseCells("a\tb\r\nc\rd\n\n"), [["a", "b"], ["c"], ["d"]])
  })
})

describe("parsePastedLines", () => {
  it("reads name, quantity, price and discount", () => {
    assert.deepStrictEqual(parsePastedLines("Pump\t2,5\t1.234,50\t10 %\nValve\t1\t88", "name", "EUR"), [
      { name: "Pump", quantity: 2.5, amountMinor: 123_450, discountPercent: 10 },
      { name: "Valve", quantity: 1, amountMinor: 8800 }
    ])
  })

  it("begins at the column with the focus", () => {
    assert.deepStrictEqual(parsePastedLines("3\t20", "quantity", "JPY"), [{ quantity: 3, amountMinor: 20 }])
  })

  it("leaves out cells that are no number, and joins the lines of a name", () => {
    assert.deepStrictEqual(parsePastedLines('"Pump\nhouse"\tmany\t1.234', "name", "EUR"), [{ name: "Pump house" }])
  })
})
