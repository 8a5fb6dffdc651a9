import type { Invoice } from "../../../domain/invoicing/Invoice.ts"
import { majorText } from "../../../domain/money/Money.ts"
import { inset, room } from "./Page.ts"
import type { Sheet } from "./Sheet.ts"

const plain = { size: 9 } as const
const strong = { size: 11, bold: true } as const

/** Height of the totals. The last line of the table stays on the same page. */
export const totalsHeight = 56

/** Draws the totals below the table. The amount to pay comes last, in large type. */
export const drawTotals = (canvas: Sheet, { currencyCode, subtotalMinor, totalMinor }: Invoice) => {
  const rows = [
    { label: canvas.number("Subtotal", plain), amount: canvas.number(majorText(subtotalMinor, currencyCode), plain) },
    {
      label: canvas.number(`Total ${currencyCode}`, strong),
      amount: canvas.number(majorText(totalMinor, currencyCode), strong)
    }
  ]
  const maxWidth = Math.max(...rows.map(({ amount, label }) => label.width + amount.width))
  const left = room.right - inset - Math.max(maxWidth + 24, 190)
  canvas.y += 20
  for (const { amount, label } of rows) {
    canvas.draw(label, left, canvas.y)
    canvas.drawRight(amount, room.right - inset, canvas.y)
    if (label.style === plain) canvas.rule(canvas.y + 8, left)
    canvas.y += 24
  }
}
