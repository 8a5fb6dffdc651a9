import type { Billable } from "../../../domain/invoicing/Billable.ts"
import { decimalOf, textOf } from "../../../domain/money/Decimal.ts"
import { majorText } from "../../../domain/money/Money.ts"
import { inset, room } from "./Page.ts"
import type { Line, Sheet, Style } from "./Sheet.ts"

/** What stands beside the description, in each line and in the head. */
type Of<A> = Readonly<Record<"number" | "quantity" | "unit" | "amount", A>>
export type Cells = Of<Line>

export const titles: Of<string> = { number: "#", quantity: "Quantity", unit: "Unit price", amount: "Amount" }

export interface Table {
  /** Where the number and the description begin and where the others end. */
  readonly columns: Of<number> & { readonly what: number; readonly width: number }
  readonly cells: (line: Billable, index: number) => Cells
}

const gap = 14
const narrowest = { quantity: 52, unit: 68, amount: 76 }

/** A description should have this much; until then numbers are written smaller, down to the last of these sizes. */
const wanted = 160
const sizes = [9, 8, 7]

const grouped = (quantity: string) => quantity.replace(/^-?\d+/, (whole) => whole.replace(/\B(?=(\d{3})+$)/g, ","))

const textsOf = (line: Billable, index: number, currencyCode: string): Of<string> => ({
  number: String(index + 1),
  quantity: grouped(textOf(decimalOf(line.quantity))),
  unit: majorText(line.amountMinor, currencyCode),
  amount: majorText(line.lineTotalMinor, currencyCode)
})

export const cellsOf = (sheet: Sheet, texts: Of<string>, style: Style): Cells => ({
  number: sheet.number(texts.number, { ...style, faint: true }),
  quantity: sheet.number(texts.quantity, style),
  unit: sheet.number(texts.unit, style),
  amount: sheet.number(texts.amount, style)
})

/** The widest of each column per point of size. Of numbers the longest are the widest, nearly; they get the difference. */
const widestOf = (sheet: Sheet, lines: ReadonlyArray<Billable>, currencyCode: string): Of<number> => {
  const longest = { number: "", quantity: "", unit: "", amount: "" }
  for (const [index, line] of lines.entries()) {
    const texts = textsOf(line, index, currencyCode)
    for (const name of ["number", "quantity", "unit", "amount"] as const) {
      if (texts[name].length > longest[name].length) longest[name] = texts[name]
    }
  }
  const { amount, number, quantity, unit } = cellsOf(sheet, longest, { size: 1 })
  return { number: number.width, quantity: quantity.width + 0.5, unit: unit.width + 0.5, amount: amount.width + 0.5 }
}

const columnsAt = (size: number, widest: Of<number>): Table["columns"] => {
  const widthOf = (name: keyof typeof narrowest) => Math.max(narrowest[name], widest[name] * size)
  const number = room.left + inset
  const what = number + Math.max(widest.number * size, 8) + gap
  const amount = room.right - inset
  const unit = amount - widthOf("amount") - gap
  const quantity = unit - widthOf("unit") - gap
  return { number, what, width: quantity - widthOf("quantity") - gap - what, quantity, unit, amount }
}

/** Columns as wide as their numbers, which are all written in the same size. */
export const tableFor = (sheet: Sheet, lines: ReadonlyArray<Billable>, currencyCode: string): Table => {
  const widest = widestOf(sheet, lines, currencyCode)
  const size = sizes.find((size) => columnsAt(size, widest).width >= wanted) ?? Math.min(...sizes)
  return {
    columns: columnsAt(size, widest),
    cells: (line, index) => cellsOf(sheet, textsOf(line, index, currencyCode), { size })
  }
}
