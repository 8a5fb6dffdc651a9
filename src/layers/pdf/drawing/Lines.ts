import type { Billable } from "../../../domain/invoicing/Billable.ts"
import type { InvoiceDocument } from "../../../domain/invoicing/InvoiceDocument.ts"
import { heightOf, type Line, leadingOf, type Sheet } from "./Sheet.ts"
import { type Cells, cellsOf, type Table, tableFor, titles } from "./Table.ts"

const padding = 4.5
const nameSize = 9

/** A line that is taller than this is begun on the page it comes to and goes on over the next. */
const tallest = 220
/** Fewer lines of text than these are not left alone on a page. */
const together = 3

const drawNumbers = (sheet: Sheet, { columns }: Table, { amount, number, quantity, unit }: Cells, y: number) => {
  sheet.draw(number, columns.number, y)
  sheet.drawRight(quantity, columns.quantity, y)
  sheet.drawRight(unit, columns.unit, y)
  sheet.drawRight(amount, columns.amount, y)
}

const drawHead = (sheet: Sheet, table: Table) => {
  const height = 20
  sheet.band(height)
  const y = sheet.y + 13
  drawNumbers(sheet, table, cellsOf(sheet, titles, { size: 7.5, bold: true }), y)
  sheet.draw(sheet.line("Description", { size: 7.5, bold: true }, table.columns.width), table.columns.what, y)
  sheet.y += height
}

const drawHeadOnNewPage = (sheet: Sheet, table: Table) => {
  sheet.newPage()
  drawHead(sheet, table)
}

const textsOf = (sheet: Sheet, { columns }: Table, line: Billable): ReadonlyArray<Line> => {
  const { description = "", name, referenceId, referenceType } = line
  const reference = referenceId === undefined ? "" : `${referenceType} ${referenceId}`
  const named = sheet.lines(name.replace(/\s+/g, " "), { size: nameSize }, columns.width)
  const details = [description, reference].flatMap((text) =>
    sheet.lines(text, { size: 7.5, faint: true }, columns.width)
  )
  return [...named, ...details]
}

/** Draws one line of the invoice, and leaves room for what must follow it on the same page. */
const drawLine = (sheet: Sheet, table: Table, line: Billable, index: number, following: number) => {
  const texts = textsOf(sheet, table, line)
  const needed = Math.max(heightOf(texts), nameSize * 1.36) + 2 * padding + following
  const least = heightOf(texts.slice(0, together)) + 2 * padding
  if (!sheet.fits(needed) && (needed <= tallest + following || !sheet.fits(least))) drawHeadOnNewPage(sheet, table)
  sheet.y += padding
  drawNumbers(sheet, table, table.cells(line, index), sheet.y + nameSize)
  for (const [place, text] of texts.entries()) {
    const isEnd = texts.length - place <= together
    const room = isEnd ? heightOf(texts.slice(place)) + padding + following : leadingOf(text)
    if (place > 0 && !sheet.fits(room)) {
      drawHeadOnNewPage(sheet, table)
      sheet.y += padding
    }
    sheet.draw(text, table.columns.what, sheet.y + text.style.size)
    sheet.y += leadingOf(text)
  }
  if (texts.length === 0) sheet.y += nameSize * 1.36
  sheet.y += padding
  sheet.rule()
}

/** The table of lines, on as many pages as it takes, each with the head of the table. */
export const drawLines = (
  sheet: Sheet,
  { invoice, lines }: Pick<InvoiceDocument, "invoice" | "lines">,
  following: number
) => {
  const table = tableFor(sheet, lines, invoice.currencyCode)
  if (!sheet.fits(60 + (lines.length > 1 ? 0 : following))) sheet.newPage()
  drawHead(sheet, table)
  const last = lines.length - 1
  for (const [index, line] of lines.entries()) drawLine(sheet, table, line, index, index === last ? following : 0)
}
