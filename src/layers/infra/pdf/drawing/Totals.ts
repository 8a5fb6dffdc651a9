import { convertTax } from "../../../../domain/eInvoice/EInvoiceAmounts.ts"
import type { DocumentLocale } from "../../../../domain/invoicing/document/DocumentLocale.ts"
import { type InvoiceDocument, shownDocument } from "../../../../domain/invoicing/document/InvoiceDocument.ts"
import type { Invoice } from "../../../../domain/invoicing/Invoice.ts"
import { formatIban } from "../../../../domain/money/IbanFormat.ts"
import type { Tax } from "../../../../domain/money/InvoiceArithmetic.ts"
import { contentArea, inset } from "./PageGeometry.ts"
import { heightOf, leadingOf, type PdfCanvas, type TextLine, type TextStyle } from "./PdfCanvas.ts"

const plain = { size: 9 } as const
const strong = { size: 11, bold: true } as const

interface TotalsRow {
  readonly label: string
  readonly amountMinor: number
  readonly style: TextStyle
}

/** What a tax is charged on, with its percentage unless its name says it. */
const describeTax = ({ name, percent }: Tax, base: string, { formatPercent, texts }: DocumentLocale) => {
  const share = formatPercent(percent)
  return texts.totals.taxOn(name.includes(share) ? name : texts.labelled(name, share), base)
}

/** The label of a discount. A credit note shows its share of it. */
export const describeDiscount = (
  { discount, discountReason }: Pick<Invoice, "discount" | "discountReason">,
  { formatPercent, texts }: DocumentLocale
) => {
  const share = discount?.percent === undefined ? "" : ` ${formatPercent(discount.percent)}`
  return `${texts.discount}${share}${discountReason === undefined ? "" : ` (${discountReason})`}`
}

type Shown = Pick<InvoiceDocument, "creditNote" | "invoice">

const discountRows = (document: Shown, locale: DocumentLocale): ReadonlyArray<TotalsRow> => {
  const { discountMinor, subtotalMinor } = shownDocument(document)
  return [
    { label: describeDiscount(document.invoice, locale), amountMinor: -discountMinor, style: plain },
    ...(locale.isChosen
      ? [{ label: locale.texts.totals.net, amountMinor: subtotalMinor - discountMinor, style: plain }]
      : [])
  ]
}

/** Subtotal, discount and taxes. The amount to pay comes last, in large type. */
const rowsOf = (document: Shown, locale: DocumentLocale): ReadonlyArray<TotalsRow> => {
  const { currencyCode, subtotalMinor, taxes, totalMinor } = shownDocument(document)
  const { credit, subtotal, total, undiscounted } = locale.texts.totals
  const hasDiscount = document.invoice.discount !== undefined
  return [
    { label: hasDiscount ? undiscounted : subtotal, amountMinor: subtotalMinor, style: plain },
    ...(hasDiscount ? discountRows(document, locale) : []),
    ...taxes.map((tax) => ({
      label: describeTax(tax, locale.formatAmount(tax.baseMinor, currencyCode), locale),
      amountMinor: tax.taxMinor,
      style: plain
    })),
    {
      label: `${document.creditNote === undefined ? total : credit} ${currencyCode}`,
      amountMinor: totalMinor,
      style: strong
    }
  ]
}

const rowHeight = 24
/** Space above the first row. */
const margin = 20

/** Height of the totals, at most that of a few rows. The last line of the table stays on the same page. */
export const totalsHeight = (document: Shown, locale: DocumentLocale) =>
  margin - 12 + rowHeight * Math.min(rowsOf(document, locale).length, 8)

/** Draws the totals below the table. A long label continues below its first line. */
export const drawTotals = (canvas: PdfCanvas, document: Shown) => {
  const { currencyCode } = document.invoice
  const rows = rowsOf(document, canvas.locale).map(({ amountMinor, label, style }) => ({
    label: canvas.wrapText(label, style, contentArea.width * 0.6),
    amount: canvas.layOutLine(canvas.locale.formatAmount(amountMinor, currencyCode), style),
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

type DocumentContent = Omit<InvoiceDocument, "images">

const paymentLines = (
  { creditNote, invoice, parties }: DocumentContent,
  { texts: { payment } }: DocumentLocale
): ReadonlyArray<string> => {
  const { bankAccount } = parties.tenant
  if (bankAccount === undefined || creditNote !== undefined) return []
  const { bic, iban, name } = bankAccount
  return [
    `${payment.payTo} ${name}`,
    `IBAN ${formatIban(iban)}${bic === undefined ? "" : ` · BIC ${bic}`}`,
    ...(invoice.invoiceNumber === undefined ? [] : [`${payment.reference} ${invoice.invoiceNumber}`])
  ]
}

/** The tax in the currency that it is accounted in. */
const taxCurrencyLines = (document: DocumentContent, { formatAmount, texts }: DocumentLocale) => {
  const { taxCurrencyCode } = document.invoice
  const taxMinor = convertTax(shownDocument(document).taxMinor, document.invoice)
  if (taxCurrencyCode === undefined || taxMinor === undefined) return []
  return [texts.labelled(texts.totals.taxIn(taxCurrencyCode), formatAmount(taxMinor, taxCurrencyCode))]
}

/** A longer block continues on the next page. */
const maxUnbrokenLines = 8

/** Draws why taxes are not charged, the notes, and where to pay to. */
export const drawNotes = (canvas: PdfCanvas, document: DocumentContent) => {
  const exemptions = shownDocument(document).taxes.flatMap(({ exemptionReason }) => exemptionReason ?? [])
  const notes = document.creditNote === undefined ? (document.invoice.notes ?? "") : ""
  for (const block of [
    exemptions,
    taxCurrencyLines(document, canvas.locale),
    [notes],
    paymentLines(document, canvas.locale)
  ]) {
    const lines = block.flatMap((text) => canvas.wrapText(text, plain, contentArea.width - inset))
    if (lines.length > 0) canvas.y += 12
    const isUnbroken = canvas.locale.isChosen && lines.length <= maxUnbrokenLines
    if (isUnbroken && !canvas.hasRoom(heightOf(lines))) canvas.newPage()
    for (const line of lines) {
      const leading = leadingOf(line)
      if (!canvas.hasRoom(leading)) canvas.newPage()
      canvas.y += leading
      canvas.drawText(line, contentArea.left + inset, canvas.y - leading * 0.26)
    }
  }
}
