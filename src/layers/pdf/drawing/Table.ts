import type { Billable } from "../../../domain/invoicing/Billable.ts"
import { decimalOf, textOf } from "../../../domain/money/Decimal.ts"
import { majorText } from "../../../domain/money/Money.ts"
import { inset, room } from "./Page.ts"
import type { Line, Sheet, Style } from "./Sheet.ts"

/** One value for each column except the description. */
type PerColumn<A> = Readonly<Record<"number" | "quantity" | "unit" | "amount", A>>
export type Cells = PerColumn<Line>

export const titles: PerColumn<string> = { number: "#", quantity: "Quantity", unit: "Unit price", amount: "Amount" }

export interface Table {
  /** Left edge of the number and the description, right edge of the other columns. */
  readonly columns: PerColumn<number> & { readonly what: number; readonly width: number }
  readonly cells: (line: Billable, index: number) => Cells
}

const gap = 14
const minWidths = { quantity: 52, unit: 68, amount: 76 }

/** The numbers use the first of these sizes that leaves enough width for the description. */
const minDescriptionWidth = 160
const fontSizes = [9, 8, 7]

const groupThousands = (quantity: string) =>
  quantity.replace(/^-?\d+/, (whole) => whole.replace(/\B(?=(\d{3})+$)/g, ","))

const textsOf = (line: Billable, index: number, currencyCode: string): PerColumn<string> => ({
  number: String(index + 1),
  quantity: groupThousands(textOf(decimalOf(line.quantity))),
  unit: majorText(line.amountMinor, currencyCode),
  amount: majorText(line.lineTotalMinor, currencyCode)
})

export const cellsOf = (canvas: Sheet, texts: PerColumn<string>, style: Style): Cells => ({
  number: canvas.number(texts.number, { ...style, faint: true }),
  quantity: canvas.number(texts.quantity, style),
  unit: canvas.number(texts.unit, style),
  amount: canvas.number(texts.amount, style)
})

/**
 * The maximum width of each column per point of font size. Measures only the longest number and adds 0.5 for a wider
 * one.
 */
const measureColumns = (canvas: Sheet, lines: ReadonlyArray<Billable>, currencyCode: string): PerColumn<number> => {
  const longest = { number: "", quantity: "", unit: "", amount: "" }
  for (const [index, line] of lines.entries()) {
    const texts = textsOf(line, index, currencyCode)
    for (const name of ["number", "quantity", "unit", "amount"] as const) {
      if (texts[name].length > longest[name].length) longest[name] = texts[name]
    }
  }
  const { amount, number, quantity, unit } = cellsOf(canvas, longest, { size: 1 })
  return { number: number.width, quantity: quantity.width + 0.5, unit: unit.width + 0.5, amount: amount.width + 0.5 }
}

const columnsAt = (size: number, widest: PerColumn<number>): Table["columns"] => {
  const widthOf = (name: keyof typeof minWidths) => Math.max(minWidths[name], widest[name] * size)
  const number = room.left + inset
  const what = number + Math.max(widest.number * size, 8) + gap
  const amount = room.right - inset
  const unit = amount - widthOf("amount") - gap
  const quantity = unit - widthOf("unit") - gap
  return { number, what, width: quantity - widthOf("quantity") - gap - what, quantity, unit, amount }
}

/** Makes a table whose columns fit their numbers. All numbers have the same font size. */
export const tableFor = (canvas: Sheet, lines: ReadonlyArray<Billable>, currencyCode: string): Table => {
  const widest = measureColumns(canvas, lines, currencyCode)
  const size = fontSizes.find((size) => columnsAt(size, widest).width >= minDescriptionWidth) ?? Math.min(...fontSizes)
  return {
    columns: columnsAt(size, widest),
    cells: (line, index) => cellsOf(canvas, textsOf(line, index, currencyCode), { size })
  }
}
