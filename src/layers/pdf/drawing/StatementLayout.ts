import { formatAmount } from "../../../domain/money/AmountFormat.ts"
import type { CurrencyStatement } from "../../../domain/reports/Statement.ts"
import { describeEntry, type StatementDocument } from "../../../domain/reports/StatementDocument.ts"
import type { Fonts } from "./Fonts.ts"
import { drawTextColumns, partyLines } from "./InvoiceLayout.ts"
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
  { from, to }: StatementDocument["statement"]
): ReadonlyArray<StatementRow> => {
  const format = (amountMinor: number) => formatAmount(amountMinor, currencyCode)
  return [
    { day: from, text: "Opening balance", amount: "", balance: format(openingMinor), style: strong },
    ...entries.map((entry) => ({
      day: entry.day,
      text: describeEntry(entry),
      amount: format(entry.amountMinor),
      balance: format(entry.balanceMinor),
      style: plain
    })),
    { day: to, text: "Closing balance", amount: "", balance: format(closingMinor), style: strong }
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

const widestOf = (canvas: PdfCanvas, texts: ReadonlyArray<string>) => {
  const longest = texts.reduce((longest, text) => (text.length > longest.length ? text : longest), "")
  return Math.max(60, canvas.layOutLine(longest, strong).width + 4)
}

const columnsOf = (canvas: PdfCanvas, rows: ReadonlyArray<StatementRow>): StatementColumns => {
  const balance = contentArea.right - inset
  const amount =
    balance -
    widestOf(
      canvas,
      rows.map((row) => row.balance)
    ) -
    14
  const text = contentArea.left + inset + 64
  return {
    day: contentArea.left + inset,
    text,
    amount,
    balance,
    textWidth:
      amount -
      widestOf(
        canvas,
        rows.map((row) => row.amount)
      ) -
      14 -
      text
  }
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
  canvas.drawBand(rowHeight)
  drawRow(canvas, columns, {
    day: "Date",
    text: "Entry",
    amount: "Amount",
    balance: "Balance",
    style: { size: 7.5, bold: true }
  })
}

const drawCurrency = (canvas: PdfCanvas, document: StatementDocument, currency: CurrencyStatement) => {
  const rows = rowsOf(currency, document.statement)
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

const drawTitle = (canvas: PdfCanvas, { from, to }: StatementDocument["statement"]) => {
  const titles = [
    ...canvas.wrapText("STATEMENT", { size: 22, bold: true }, halfWidth),
    ...canvas.wrapText(`${from} – ${to}`, { size: 11 }, halfWidth)
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
    { x: contentArea.left, lines: partyLines(canvas, "FROM", parties.tenant, width) },
    { x: contentArea.left + halfWidth, lines: partyLines(canvas, "TO", parties.client, width) }
  ])
  canvas.y += 20
}

/** Draws the statement of a client on A4 pages. Equal statements give equal bytes. */
export const drawStatement = (fonts: Fonts, document: StatementDocument): Promise<Uint8Array<ArrayBuffer>> => {
  const { parties, statement } = document
  const name = `Statement ${statement.from} – ${statement.to}`
  const canvas = new PdfCanvas(fonts, {
    title: name,
    author: parties.tenant.name,
    date: new Date(statement.to),
    watermark: undefined,
    background: undefined
  })
  drawTitle(canvas, statement)
  drawParties(canvas, document)
  for (const currency of statement.currencies) drawCurrency(canvas, document, currency)
  const note =
    statement.currencies.length === 0
      ? "Nothing was booked in this period, and nothing was owed."
      : "The balance is what you owe less what you have paid in advance. A negative balance is in your favour."
  const lines = canvas.wrapText(note, { size: 8, faint: true }, contentArea.width)
  drawTextColumns(canvas, [{ x: contentArea.left, lines }])
  return canvas.finish(`${name} · ${parties.tenant.name}`)
}
