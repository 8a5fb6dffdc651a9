import type { Billable } from "../../../domain/invoicing/Billable.ts"
import { decimalOf, textOf } from "../../../domain/money/Decimal.ts"
import { majorText } from "../../../domain/money/Money.ts"
import { room } from "./Page.ts"
import type { Sheet, TextOptions } from "./Sheet.ts"

const gap = 8
const padding = 4

const number = { x: room.left + 4, width: 28 }
const amount = { x: room.right - 4 - 100, width: 100, align: "right" } as const
const unit = { x: amount.x - gap - 90, width: 90, align: "right" } as const
const quantity = { x: unit.x - gap - 68, width: 68, align: "right" } as const
const what = { x: number.x + number.width + gap, width: quantity.x - number.x - number.width - 2 * gap }

const drawHead = (sheet: Sheet, currencyCode: string) => {
  const height = 18
  sheet.band(height)
  const y = sheet.y + 5
  const head = (text: string, at: TextOptions) => sheet.write(text, { ...at, size: 7.5, bold: true }, y)
  head("#", number)
  head("Description", what)
  head("Quantity", quantity)
  head(`Unit price (${currencyCode})`, unit)
  head(`Amount (${currencyCode})`, amount)
  sheet.y += height + padding
}

const small = { ...what, size: 7.5, faint: true }

const detailOf = ({ description, referenceId, referenceType }: Billable) =>
  [description ?? "", referenceId === undefined ? "" : `${referenceType} ${referenceId}`]
    .filter((text) => text !== "")
    .join("\n")

const drawLine = (sheet: Sheet, line: Billable, index: number, currencyCode: string) => {
  const detail = detailOf(line)
  const cells = [
    [String(index + 1), { ...number, faint: true }],
    [line.name, what],
    [textOf(decimalOf(line.quantity)), quantity],
    [majorText(line.amountMinor, currencyCode), unit],
    [majorText(line.lineTotalMinor, currencyCode), amount]
  ] as const
  const above = Math.max(...cells.map(([text, at]) => sheet.heightOf(text, at)))
  const height = above + sheet.heightOf(detail, small) + 2 * padding
  if (!sheet.fits(height)) {
    sheet.newPage()
    drawHead(sheet, currencyCode)
  }
  for (const [text, at] of cells) sheet.write(text, at)
  sheet.write(detail, small, sheet.y + above)
  sheet.y += height - padding
  sheet.rule()
  sheet.y += padding
}

/** The table of lines, on as many pages as it takes, each with the head of the table. */
export const drawLines = (sheet: Sheet, lines: ReadonlyArray<Billable>, currencyCode: string) => {
  drawHead(sheet, currencyCode)
  for (const [index, line] of lines.entries()) drawLine(sheet, line, index, currencyCode)
}
