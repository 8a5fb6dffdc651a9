import type { DocumentLocale } from "../../../../domain/invoicing/document/DocumentLocale.ts"
import type { DocumentLine, InvoiceDocument } from "../../../../domain/invoicing/document/InvoiceDocument.ts"
import { heightOf, leadingOf, type PdfCanvas, type TextLine } from "./PdfCanvas.ts"
import { cellsOf, layOutTable, type TableCells, type TableLayout } from "./TableLayout.ts"
import { describeDiscount } from "./Totals.ts"

const padding = 4.5
const nameSize = 9

/** A taller line starts on the current page and continues on the next. */
const maxUnbrokenHeight = 220
/** Minimum of text lines that stay together on a page (widow and orphan control). */
const minLinesTogether = 3

const drawNumbers = (
  canvas: PdfCanvas,
  { columns }: TableLayout,
  { amount, number, quantity, unit }: TableCells,
  y: number
) => {
  canvas.drawText(number, columns.number, y)
  canvas.drawTextRight(quantity, columns.quantity, y)
  canvas.drawTextRight(unit, columns.unit, y)
  canvas.drawTextRight(amount, columns.amount, y)
}

const drawHead = (canvas: PdfCanvas, table: TableLayout) => {
  const { columns } = canvas.locale.texts
  const height = 20
  canvas.drawBand(height)
  const y = canvas.y + 13
  drawNumbers(canvas, table, cellsOf(canvas, columns, { size: 7.5, bold: true }), y)
  canvas.drawText(
    canvas.truncateText(columns.description, { size: 7.5, bold: true }, table.columns.width),
    table.columns.what,
    y
  )
  canvas.y += height
}

const drawHeadOnNewPage = (canvas: PdfCanvas, table: TableLayout) => {
  canvas.newPage()
  drawHead(canvas, table)
}

const describeLineDiscount = (line: DocumentLine, locale: DocumentLocale) =>
  line.discount === undefined
    ? ""
    : locale.texts.labelled(describeDiscount(line, locale), locale.formatAmount(-line.discountMinor, line.currencyCode))

/** Returns a function that names the taxes of a line, or nothing where all lines have the same. */
const makeTaxLabels = (
  { invoice, lines }: Pick<InvoiceDocument, "invoice" | "lines">,
  { texts }: DocumentLocale
): ((line: DocumentLine) => string) => {
  const keyOf = (taxRates: ReadonlyArray<string>) => [...taxRates].sort().join(" ")
  if (new Set(lines.map(({ taxRates }) => keyOf(taxRates))).size < 2) return () => ""
  const nameOf = (id: string) => invoice.taxes.find(({ taxRates }) => taxRates.includes(id))?.name ?? ""
  return ({ taxRates }) => (taxRates.length === 0 ? texts.noTax : [...new Set(taxRates.map(nameOf))].join(", "))
}

const textsOf = (
  canvas: PdfCanvas,
  { columns }: TableLayout,
  line: DocumentLine,
  taxes: string
): ReadonlyArray<TextLine> => {
  const { description = "", name, referenceId, referenceType } = line
  const reference = referenceId === undefined ? "" : `${referenceType} ${referenceId}`
  const nameLines = canvas.wrapText(name.replace(/\s+/g, " "), { size: nameSize }, columns.width)
  const detailLines = [description, reference, describeLineDiscount(line, canvas.locale), taxes].flatMap((text) =>
    canvas.wrapText(text, { size: 7.5, faint: true }, columns.width)
  )
  return [...nameLines, ...detailLines]
}

/** Draws one line of the invoice. Reserves `following` points for the content that must follow on the same page. */
const drawLine = (
  canvas: PdfCanvas,
  table: TableLayout,
  { index, line, taxes }: { readonly line: DocumentLine; readonly index: number; readonly taxes: string },
  following: number
) => {
  const texts = textsOf(canvas, table, line, taxes)
  const neededHeight = Math.max(heightOf(texts), nameSize * 1.36) + 2 * padding + following
  const minHeight = heightOf(texts.slice(0, minLinesTogether)) + 2 * padding
  if (!canvas.hasRoom(neededHeight) && (neededHeight <= maxUnbrokenHeight + following || !canvas.hasRoom(minHeight)))
    drawHeadOnNewPage(canvas, table)
  canvas.y += padding
  drawNumbers(canvas, table, table.cells(line, index), canvas.y + nameSize)
  for (const [place, text] of texts.entries()) {
    const isEnd = texts.length - place <= minLinesTogether
    const height = isEnd ? heightOf(texts.slice(place)) + padding + following : leadingOf(text)
    if (place > 0 && !canvas.hasRoom(height)) {
      drawHeadOnNewPage(canvas, table)
      canvas.y += padding
    }
    canvas.drawText(text, table.columns.what, canvas.y + text.style.size)
    canvas.y += leadingOf(text)
  }
  if (texts.length === 0) canvas.y += nameSize * 1.36
  canvas.y += padding
  canvas.drawRule()
}

/** Draws the table of lines and repeats the table head on every page. */
export const drawLineTable = (
  canvas: PdfCanvas,
  document: Pick<InvoiceDocument, "invoice" | "lines">,
  following: number
) => {
  const { invoice, lines } = document
  const taxesOf = makeTaxLabels(document, canvas.locale)
  const table = layOutTable(canvas, lines, invoice.currencyCode)
  if (!canvas.hasRoom(60 + (lines.length > 1 ? 0 : following))) canvas.newPage()
  drawHead(canvas, table)
  const last = lines.length - 1
  for (const [index, line] of lines.entries())
    drawLine(canvas, table, { line, index, taxes: taxesOf(line) }, index === last ? following : 0)
}
