import type { Invoice } from "../../../domain/invoicing/Invoice.ts"
import { majorText } from "../../../domain/money/Money.ts"
import { inset, room } from "./Page.ts"
import type { Sheet } from "./Sheet.ts"

const plain = { size: 9 } as const
const strong = { size: 11, bold: true } as const

/** What the totals take; the last line stays on their page. */
export const totalsHeight = 56

/** The sums below the table, the one to pay last and largest. */
export const drawTotals = (sheet: Sheet, { currencyCode, subtotalMinor, totalMinor }: Invoice) => {
  const rows = [
    { label: sheet.number("Subtotal", plain), amount: sheet.number(majorText(subtotalMinor, currencyCode), plain) },
    {
      label: sheet.number(`Total ${currencyCode}`, strong),
      amount: sheet.number(majorText(totalMinor, currencyCode), strong)
    }
  ]
  const widest = Math.max(...rows.map(({ amount, label }) => label.width + amount.width))
  const left = room.right - inset - Math.max(widest + 24, 190)
  sheet.y += 20
  for (const { amount, label } of rows) {
    sheet.draw(label, left, sheet.y)
    sheet.drawRight(amount, room.right - inset, sheet.y)
    if (label.style === plain) sheet.rule(sheet.y + 8, left)
    sheet.y += 24
  }
}
