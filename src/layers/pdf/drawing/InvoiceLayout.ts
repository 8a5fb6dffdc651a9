import { type InvoiceDocument, shownDocument } from "../../../domain/invoicing/document/InvoiceDocument.ts"
import type { Parties } from "../../../domain/invoicing/document/Parties.ts"
import { defaultTimeZone, localDateOf } from "../../../domain/TimeZone.ts"
import type { DrawableImages } from "./DrawableImages.ts"
import type { Fonts } from "./Fonts.ts"
import { drawLineTable } from "./LineTable.ts"
import { contentArea } from "./PageGeometry.ts"
import { leadingOf, PdfCanvas, type TextLine } from "./PdfCanvas.ts"
import { drawNotes, drawTotals, totalsHeight } from "./Totals.ts"

export interface TextColumn {
  readonly x: number
  readonly lines: ReadonlyArray<TextLine>
}

/** Draws columns of text row by row and continues on a new page when needed. */
export const drawTextColumns = (canvas: PdfCanvas, columns: ReadonlyArray<TextColumn>) => {
  const rows = Math.max(...columns.map(({ lines }) => lines.length))
  for (let row = 0; row < rows; row++) {
    const cells = columns.flatMap(({ lines, x }) => {
      const line = lines[row]
      return line === undefined ? [] : [{ x, line }]
    })
    const leading = Math.max(...cells.map(({ line }) => leadingOf(line)))
    if (!canvas.hasRoom(leading)) canvas.newPage()
    canvas.y += leading
    for (const { line, x } of cells) canvas.drawText(line, x, canvas.y - leading * 0.26)
  }
}

type Party = Parties["client"]

/** The postal address, followed by the registration and VAT numbers. */
const addressLines = ({ address }: Party) =>
  address === undefined
    ? []
    : [
        address.address1,
        address.address2,
        `${address.zip} ${address.city}`,
        address.region,
        address.country,
        address.registrationNumber && `Reg. no. ${address.registrationNumber}`,
        address.vatNumber && `VAT ${address.vatNumber}`
      ].filter((line) => line !== undefined)

/** The text block of a party: the legal name first, then its other name if that differs. */
export const partyLines = (canvas: PdfCanvas, title: string, party: Party, width: number): ReadonlyArray<TextLine> => {
  const name = party.address?.name ?? party.name
  const otherName = name === party.name ? [] : [party.name]
  return [
    ...canvas.wrapText(title, { size: 7, faint: true }, width),
    ...canvas.wrapText(name, { size: 10, bold: true }, width),
    ...[...otherName, ...addressLines(party)].flatMap((line) => canvas.wrapText(line ?? "", { size: 9 }, width))
  ]
}

const dayOf = (timestamp: string | undefined, { tenant }: Parties) =>
  timestamp === undefined ? "–" : localDateOf(timestamp, tenant.timeZone ?? defaultTimeZone)

const watermarks: Partial<Record<string, string>> = { DRAFT: "DRAFT", VOID: "VOID" }

/** Minimum height of the title. The left halfWidth is reserved for the tenant's logo. */
const letterheadHeight = 64

const halfWidth = contentArea.width / 2

type DocumentContent = Omit<InvoiceDocument, "images">

const numberOf = ({ creditNote, invoice }: DocumentContent) =>
  creditNote === undefined ? invoice.invoiceNumber : creditNote.creditNoteNumber

const drawTitle = (canvas: PdfCanvas, document: DocumentContent) => {
  const end = canvas.y + letterheadHeight
  const { status } = shownDocument(document)
  const number = numberOf(document) ?? (status === "DRAFT" ? "No number yet" : "No number")
  const width = halfWidth - 16
  for (const line of [
    ...canvas.wrapText(document.creditNote === undefined ? "INVOICE" : "CREDIT NOTE", { size: 22, bold: true }, width),
    ...canvas.wrapText(number, { size: 11 }, width)
  ]) {
    canvas.y += leadingOf(line)
    canvas.drawTextRight(line, contentArea.right, canvas.y - line.style.size * 0.5)
  }
  canvas.y = Math.max(canvas.y, end) + 16
}

/** Size of the client's logo next to the client's address. */
const clientLogo = { width: 96, height: 48 }

const drawParties = (canvas: PdfCanvas, { parties }: DocumentContent, logo: Buffer | undefined) => {
  const width = halfWidth - 16
  canvas.drawImage(logo, { x: contentArea.right - clientLogo.width, y: canvas.y, ...clientLogo }, "right")
  drawTextColumns(canvas, [
    { x: contentArea.left, lines: partyLines(canvas, "FROM", parties.tenant, width) },
    {
      x: contentArea.left + halfWidth,
      lines: partyLines(canvas, "BILL TO", parties.client, logo ? width - clientLogo.width : width)
    }
  ])
  canvas.y += 20
}

/** The titles and texts of the first three columns of the terms. */
const termsOf = (document: DocumentContent): ReadonlyArray<readonly [title: string, text: string]> => {
  const { invoice, parties } = document
  const { currencyCode, issuedAt } = shownDocument(document)
  return [
    ["ISSUE DATE", dayOf(issuedAt, parties)],
    document.creditNote === undefined
      ? ["DUE DATE", dayOf(invoice.dueAt, parties)]
      : ["INVOICE DATE", dayOf(invoice.issuedAt, parties)],
    ["CURRENCY", currencyCode]
  ]
}

/** What a credit note credits, and why. */
const drawCreditTerms = (canvas: PdfCanvas, { creditNote, invoice }: DocumentContent) => {
  if (creditNote === undefined) return
  const texts = [`Credit for invoice ${invoice.invoiceNumber ?? invoice.id}`, creditNote.reason]
  const lines = texts.flatMap((text) => canvas.wrapText(text, { size: 9 }, contentArea.width))
  drawTextColumns(canvas, [{ x: contentArea.left, lines }])
  canvas.y += 16
}

/** Dates, currency and contract, between two rules. */
const drawTerms = (canvas: PdfCanvas, document: DocumentContent) => {
  const { parties } = document
  const columnWidth = halfWidth / 3
  const term = (x: number, title: string, text: string, width = columnWidth - 12) => ({
    x: contentArea.left + x,
    lines: [...canvas.wrapText(title, { size: 7, faint: true }, width), ...canvas.wrapText(text, { size: 9 }, width)]
  })
  if (!canvas.hasRoom(60)) canvas.newPage()
  canvas.drawRule()
  canvas.y += 6
  drawTextColumns(canvas, [
    ...termsOf(document).map(([title, text], index) => term(index * columnWidth, title, text)),
    term(halfWidth, "CONTRACT", parties.contract.name, halfWidth)
  ])
  canvas.y += 8
  canvas.drawRule()
  canvas.y += 20
}

/** What a file has besides the content of the document. */
interface Attachments {
  readonly images?: DrawableImages
  /** The XML that makes the file a hybrid. */
  readonly eInvoice?: Uint8Array | undefined
}

/** Draws an invoice or a credit note on A4 pages. The output is deterministic: equal documents give equal bytes. */
export const drawInvoice = (
  fonts: Fonts,
  document: DocumentContent,
  { eInvoice, images = {} }: Attachments = {}
): Promise<Uint8Array<ArrayBuffer>> => {
  const { creditNote, parties } = document
  const shown = shownDocument(document)
  const kind = creditNote === undefined ? "invoice" : "credit note"
  const name = numberOf(document) ?? (shown.status === "DRAFT" ? `Draft ${kind}` : "Invoice")
  const canvas = new PdfCanvas(fonts, {
    title: name,
    author: parties.tenant.name,
    date: new Date(shown.issuedAt ?? shown.updatedAt),
    watermark: watermarks[shown.status],
    // The client's background overrides the tenant's.
    background: images["client-background"] ?? images["tenant-background"],
    eInvoice
  })
  canvas.drawImage(
    images["tenant-logo"],
    { x: contentArea.left, y: canvas.y, width: halfWidth - 16, height: letterheadHeight },
    "left"
  )
  drawTitle(canvas, document)
  drawParties(canvas, document, images["client-logo"])
  drawTerms(canvas, document)
  drawCreditTerms(canvas, document)
  drawLineTable(canvas, document, totalsHeight(document))
  drawTotals(canvas, document)
  drawNotes(canvas, document)
  return canvas.finish(`${name} · ${parties.tenant.name}`)
}
