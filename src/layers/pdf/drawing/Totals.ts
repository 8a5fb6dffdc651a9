import { type InvoiceDocument, shownDocument } from "../../../domain/invoicing/document/InvoiceDocument.ts"
import { formatAmount } from "../../../domain/money/AmountFormat.ts"
import { formatDecimal, toDecimal } from "../../../domain/money/Decimal.ts"
import { contentArea, inset } from "./PageGeometry.ts"
import { heightOf, leadingOf, type PdfCanvas, type TextLine, type TextStyle } from "./PdfCanvas.ts"

const plain = { size: 9 } as const
const strong = { size: 11, bold: true } as const

interface TotalsRow {
  readonly label: string
  readonly amountMinor: number
  readonly style: TextStyle
}

/** A percentage as invoices show it: 5.5 %. */
export const formatPercent = (percent: number) => `${formatDecimal(toDecimal(percent))} %`

/** What a tax is charged on, with its percentage unless its name says it. */
const describeTax = (name: string, percent: string, base: string) =>
  name.includes(percent) ? `${name} of ${base}` : `${name}: ${percent} of ${base}`

type Shown = Pick<InvoiceDocument, "creditNote" | "invoice">

/** The label of the discount. A credit note shows its share of it. */
const describeDiscount = ({ invoice: { discount, discountReason } }: Shown) => {
  const share = discount?.percent === undefined ? "" : ` ${formatPercent(discount.percent)}`
  return `Discount${share}${discountReason === undefined ? "" : ` (${discountReason})`}`
}

/** Subtotal, discount and taxes. The amount to pay comes last, in large type. */
const rowsOf = (document: Shown): ReadonlyArray<TotalsRow> => {
  const { currencyCode, discountMinor, subtotalMinor, taxes, totalMinor } = shownDocument(document)
  return [
    { label: "Subtotal", amountMinor: subtotalMinor, style: plain },
    ...(document.invoice.discount === undefined
      ? []
      : [{ label: describeDiscount(document), amountMinor: -discountMinor, style: plain }]),
    ...taxes.map(({ baseMinor, name, percent, taxMinor }) => ({
      label: describeTax(name, formatPercent(percent), formatAmount(baseMinor, currencyCode)),
      amountMinor: taxMinor,
      style: plain
    })),
    {
      label: `${document.creditNote === undefined ? "Total" : "Total credit"} ${currencyCode}`,
      amountMinor: totalMinor,
      style: strong
    }
  ]
}

const rowHeight = 24
/** Space above the first row. */
const margin = 20

/** Height of the totals, at most that of a few rows. The last line of the table stays on the same page. */
export const totalsHeight = (document: Shown) => margin - 12 + rowHeight * Math.min(rowsOf(document).length, 8)

/** Draws the totals below the table. A long label continues below its first line. */
export const drawTotals = (canvas: PdfCanvas, document: Shown) => {
  const { currencyCode } = document.invoice
  const rows = rowsOf(document).map(({ amountMinor, label, style }) => ({
    label: canvas.wrapText(label, style, contentArea.width * 0.6),
    amount: canvas.layOutLine(formatAmount(amountMinor, currencyCode), style),
    isPlain: style === plain
  }))
  const widthOf = (label: ReadonlyArray<TextLine>) => Math.max(...label.map(({ width }) => width))
  const maxWidth = Math.max(...rows.map(({ amount, label }) => widthOf(label) + amount.width))
  const left = contentArea.right - inset - Math.max(maxWidth + 24, 190)
  canvas.y += margin
  for (const { amount, isPlain, label } of rows) {
    const [first, ...rest] = label
    if (!canvas.hasRoom(heightOf(rest) + 8)) {
      canvas.newPage()
      canvas.y += margin
    }
    if (first !== undefined) canvas.drawText(first, left, canvas.y)
    canvas.drawTextRight(amount, contentArea.right - inset, canvas.y)
    for (const line of rest) {
      canvas.y += leadingOf(line)
      canvas.drawText(line, left, canvas.y)
    }
    if (isPlain) canvas.drawRule(canvas.y + 8, left)
    canvas.y += rowHeight
  }
}

/** The IBAN in groups of four. */
const formatIban = (iban: string) => iban.replace(/(.{4})(?=.)/g, "$1 ")

const paymentLines = ({ creditNote, invoice, parties }: Omit<InvoiceDocument, "images">): ReadonlyArray<string> => {
  const { bankAccount } = parties.tenant
  if (bankAccount === undefined || creditNote !== undefined) return []
  const { bic, iban, name } = bankAccount
  return [
    `Please pay to ${name}`,
    `IBAN ${formatIban(iban)}${bic === undefined ? "" : ` · BIC ${bic}`}`,
    ...(invoice.invoiceNumber === undefined ? [] : [`Reference ${invoice.invoiceNumber}`])
  ]
}

/** Draws why taxes are not charged, and where to pay to. */
export const drawNotes = (canvas: PdfCanvas, document: Omit<InvoiceDocument, "images">) => {
  const exemptions = shownDocument(document).taxes.flatMap(({ exemptionReason }) => exemptionReason ?? [])
  for (const block of [exemptions, paymentLines(document)]) {
    const lines = block.flatMap((text) => canvas.wrapText(text, plain, contentArea.width - inset))
    if (lines.length > 0) canvas.y += 12
    for (const line of lines) {
      const leading = leadingOf(line)
      if (!canvas.hasRoom(leading)) canvas.newPage()
      canvas.y += leading
      canvas.drawText(line, contentArea.left + inset, canvas.y - leading * 0.26)
    }
  }
}
