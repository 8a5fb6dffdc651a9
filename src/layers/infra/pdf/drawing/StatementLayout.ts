import { type DocumentLocale, documentLocaleOf } from "../../../../domain/invoicing/document/DocumentLocale.ts"
import type { CurrencyStatement } from "../../../../domain/reports/Statement.ts"
import { describeEntry, type StatementDocument } from "../../../../domain/reports/StatementDocument.ts"
import type { Fonts } from "./Fonts.ts"
import { drawTextColumns, issuerBlock, partyLines, titleLines } from "./InvoiceLayout.ts"
import { contentArea, inset } from "./PageGeometry.ts"
import { leadingOf, PdfCanvas, type TextStyle } from "./PdfCanvas.ts"

const halfWidth = contentArea.width / 2
const rowHeight = 17
const plain = { size: 8.5 } as const
const strong = { size: 8.5, bold: true } as const

interface StatementRow {
  readonly day: string
  readonly text: string
  readonly amount: string
  readonly balance: string
  readonly style: TextStyle
}

/** The opening balance, the entries and the closing balance. */
const rowsOf = (
  { closingMinor, currencyCode, entries, openingMinor }: CurrencyStatement,
  { from, to }: StatementDocument["statement"],
  { formatAmount, formatDay, texts }: DocumentLocale
): ReadonlyArray<StatementRow> => {
  const format = (amountMinor: number) => formatAmount(amountMinor, currencyCode)
  const { closing, opening } = texts.statement
  return [
    { day: formatDay(from), text: opening, amount: "", balance: format(openingMinor), style: strong },
    ...entries.map((entry) => ({
      day: formatDay(entry.day),
      text: describeEntry(entry, texts),
      amount: format(entry.amountMinor),
      balance: format(entry.balanceMinor),
      style: plain
    })),
    { day: formatDay(to), text: closing, amount: "", balance: format(closingMinor), style: strong }
  ]
}

/** Left edge of the day and the text, right edge of the amounts. */
interface StatementColumns {
  readonly day: number
  readonly text: number
  readonly amount: number
  readonly balance: number
  readonly textWidth: number
}

const widestOf = (canvas: PdfCanvas, texts: ReadonlyArray<string>, min: number) => {
  const longest = texts.reduce((longest, text) => (text.length > longest.length ? text : longest), "")
  return Math.max(min, canvas.layOutLine(longest, strong).width + 4)
}

const columnsOf = (canvas: PdfCanvas, rows: ReadonlyArray<StatementRow>): StatementColumns => {
  const gap = 14
  const widest = (name: "day" | "amount" | "balance", min: number) =>
    widestOf(
      canvas,
      rows.map((row) => row[name]),
      min
    )
  const day = contentArea.left + inset
  const balance = contentArea.right - inset
  const amount = balance - widest("balance", 60) - gap
  const text = day + widest("day", 64)
  return { day, text, amount, balance, textWidth: amount - widest("amount", 60) - gap - text }
}

const drawRow = (canvas: PdfCanvas, columns: StatementColumns, { amount, balance, day, style, text }: StatementRow) => {
  const y = canvas.y + 12
  canvas.drawText(canvas.layOutLine(day, style), columns.day, y)
  canvas.drawText(canvas.truncateText(text, style, columns.textWidth), columns.text, y)
  canvas.drawTextRight(canvas.layOutLine(amount, style), columns.amount, y)
  canvas.drawTextRight(canvas.layOutLine(balance, style), columns.balance, y)
  canvas.y += rowHeight
}

const drawHead = (canvas: PdfCanvas, columns: StatementColumns) => {
  const { amount, balance, day, entry } = canvas.locale.texts.statement
  canvas.drawBand(rowHeight)
  drawRow(canvas, columns, { day, text: entry, amount, balance, style: { size: 7.5, bold: true } })
}

const drawCurrency = (canvas: PdfCanvas, document: StatementDocument, currency: CurrencyStatement) => {
  const rows = rowsOf(currency, document.statement, canvas.locale)
  const columns = columnsOf(canvas, rows)
  if (!canvas.hasRoom(6 * rowHeight)) canvas.newPage()
  const title = canvas.layOutLine(currency.currencyCode, { size: 11, bold: true })
  canvas.y += leadingOf(title)
  canvas.drawText(title, contentArea.left, canvas.y - 4)
  drawHead(canvas, columns)
  for (const row of rows) {
    if (!canvas.hasRoom(rowHeight)) {
      canvas.newPage()
      drawHead(canvas, columns)
    }
    drawRow(canvas, columns, row)
    canvas.drawRule()
  }
  canvas.y += 16
}

const drawTitle = (canvas: PdfCanvas, period: string) => {
  const titles = [
    ...titleLines(canvas, canvas.locale.texts.titles.statement, halfWidth),
    ...canvas.wrapText(period, { size: 11 }, halfWidth)
  ]
  for (const line of titles) {
    canvas.y += leadingOf(line)
    canvas.drawTextRight(line, contentArea.right, canvas.y - line.style.size * 0.5)
  }
  canvas.y += 24
}

const drawParties = (canvas: PdfCanvas, { parties }: StatementDocument) => {
  const width = halfWidth - 16
  drawTextColumns(canvas, [
    { x: contentArea.left, lines: issuerBlock(canvas, parties.tenant, width) },
    {
      x: contentArea.left + halfWidth,
      lines: partyLines(canvas, canvas.locale.texts.party.recipient, parties.client, width)
    }
  ])
  canvas.y += 20
}

/** Draws the statement of a client on A4 pages. Equal statements give equal bytes. */
export const drawStatement = (fonts: Fonts, document: StatementDocument): Promise<Uint8Array<ArrayBuffer>> => {
  const { parties, statement } = document
  const locale = documentLocaleOf(parties)
  const { names, statement: texts } = locale.texts
  const period = `${locale.formatDay(statement.from)} – ${locale.formatDay(statement.to)}`
  const name = `${names.statement} ${period}`
  const canvas = new PdfCanvas(fonts, {
    locale,
    title: name,
    author: parties.tenant.name,
    date: new Date(statement.to),
    watermark: undefined,
    background: undefined
  })
  drawTitle(canvas, period)
  drawParties(canvas, document)
  for (const currency of statement.currencies) drawCurrency(canvas, document, currency)
  const note = statement.currencies.length === 0 ? texts.empty : texts.explanation
  const lines = canvas.wrapText(note, { size: 8, faint: true }, contentArea.width)
  drawTextColumns(canvas, [{ x: contentArea.left, lines }])
  return canvas.finish(`${name} · ${parties.tenant.name}`)
}
