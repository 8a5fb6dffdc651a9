import type { DocumentLocale } from "../../../../domain/invoicing/document/DocumentLocale.ts"
import type { DocumentLine } from "../../../../domain/invoicing/document/InvoiceDocument.ts"
import { contentArea, inset } from "./PageGeometry.ts"
import type { PdfCanvas, TextLine, TextStyle } from "./PdfCanvas.ts"

/** One value for each column except the description. */
type PerColumn<A> = Readonly<Record<"number" | "quantity" | "unit" | "amount", A>>
export type TableCells = PerColumn<TextLine>

export interface TableLayout {
  /** Left edge of the number and the description, right edge of the other columns. */
  readonly columns: PerColumn<number> & { readonly what: number; readonly width: number }
  readonly cells: (line: DocumentLine, index: number) => TableCells
}

const gap = 14
const minWidths = { quantity: 52, unit: 68, amount: 76 }

/** The numbers use the first of these sizes that leaves enough width for the description. */
const minDescriptionWidth = 160
const fontSizes = [9, 8, 7]

const textsOf = (
  { showsQuantity = true, ...line }: DocumentLine,
  index: number,
  currencyCode: string,
  { formatAmount, formatQuantity }: DocumentLocale
): PerColumn<string> => ({
  number: String(index + 1),
  quantity: showsQuantity ? formatQuantity(line.quantity) : "",
  unit: showsQuantity ? formatAmount(line.amountMinor, currencyCode) : "",
  amount: formatAmount(line.lineTotalMinor, currencyCode)
})

export const cellsOf = (canvas: PdfCanvas, texts: PerColumn<string>, style: TextStyle): TableCells => ({
  number: canvas.layOutLine(texts.number, { ...style, faint: true }),
  quantity: canvas.layOutLine(texts.quantity, style),
  unit: canvas.layOutLine(texts.unit, style),
  amount: canvas.layOutLine(texts.amount, style)
})

/**
 * The maximum width of each column per point of font size. Measures only the longest number and adds 0.5 for a wider
 * one.
 */
const measureColumns = (
  canvas: PdfCanvas,
  lines: ReadonlyArray<DocumentLine>,
  currencyCode: string
): PerColumn<number> => {
  const longest = { number: "", quantity: "", unit: "", amount: "" }
  for (const [index, line] of lines.entries()) {
    const texts = textsOf(line, index, currencyCode, canvas.locale)
    for (const name of ["number", "quantity", "unit", "amount"] as const) {
      if (texts[name].length > longest[name].length) longest[name] = texts[name]
    }
  }
  const { amount, number, quantity, unit } = cellsOf(canvas, longest, { size: 1 })
  return { number: number.width, quantity: quantity.width + 0.5, unit: unit.width + 0.5, amount: amount.width + 0.5 }
}

const columnsAt = (size: number, widest: PerColumn<number>): TableLayout["columns"] => {
  const widthOf = (name: keyof typeof minWidths) => Math.max(minWidths[name], widest[name] * size)
  const number = contentArea.left + inset
  const what = number + Math.max(widest.number * size, 8) + gap
  const amount = contentArea.right - inset
  const unit = amount - widthOf("amount") - gap
  const quantity = unit - widthOf("unit") - gap
  return { number, what, width: quantity - widthOf("quantity") - gap - what, quantity, unit, amount }
}

/** Makes a table whose columns fit their numbers. All numbers have the same font size. */
export const layOutTable = (
  canvas: PdfCanvas,
  lines: ReadonlyArray<DocumentLine>,
  currencyCode: string
): TableLayout => {
  const widest = measureColumns(canvas, lines, currencyCode)
  const size = fontSizes.find((size) => columnsAt(size, widest).width >= minDescriptionWidth) ?? Math.min(...fontSizes)
  return {
    columns: columnsAt(size, widest),
    cells: (line, index) => cellsOf(canvas, textsOf(line, index, currencyCode, canvas.locale), { size })
  }
}
