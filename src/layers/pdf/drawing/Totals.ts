import type { Invoice } from "../../../domain/invoicing/Invoice.ts"
import { formatAmount } from "../../../domain/money/Money.ts"
import { contentArea, inset } from "./PageGeometry.ts"
import type { PdfCanvas } from "./PdfCanvas.ts"

const plain = { size: 9 } as const
const strong = { size: 11, bold: true } as const

/** Height of the totals. The last line of the table stays on the same page. */
export const totalsHeight = 56

/** Draws the totals below the table. The amount to pay comes last, in large type. */
export const drawTotals = (canvas: PdfCanvas, { currencyCode, subtotalMinor, totalMinor }: Invoice) => {
  const rows = [
    {
      label: canvas.layOutLine("Subtotal", plain),
      amount: canvas.layOutLine(formatAmount(subtotalMinor, currencyCode), plain)
    },
    {
      label: canvas.layOutLine(`Total ${currencyCode}`, strong),
      amount: canvas.layOutLine(formatAmount(totalMinor, currencyCode), strong)
    }
  ]
  const maxWidth = Math.max(...rows.map(({ amount, label }) => label.width + amount.width))
  const left = contentArea.right - inset - Math.max(maxWidth + 24, 190)
  canvas.y += 20
  for (const { amount, label } of rows) {
    canvas.drawText(label, left, canvas.y)
    canvas.drawTextRight(amount, contentArea.right - inset, canvas.y)
    if (label.style === plain) canvas.drawRule(canvas.y + 8, left)
    canvas.y += 24
  }
}
