import { type DocumentLocale, documentLocaleOf } from "../../../../domain/invoicing/document/DocumentLocale.ts"
import { type InvoiceDocument, shownDocument } from "../../../../domain/invoicing/document/InvoiceDocument.ts"
import type { Parties } from "../../../../domain/invoicing/document/Parties.ts"
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
const addressLines = ({ address }: Party, { texts: { party } }: DocumentLocale) =>
  address === undefined
    ? []
    : [
        address.address1,
        address.address2,
        `${address.zip} ${address.city}`,
        address.region,
        address.country,
        address.registrationNumber && `${party.registrationNumber} ${address.registrationNumber}`,
        address.vatNumber && `${party.vatNumber} ${address.vatNumber}`
      ].filter((line) => line !== undefined)

/** What only the issuer shows: its tax number, and whom to ask. */
const issuerLines = ({ address, billingContact }: Parties["tenant"], { texts }: DocumentLocale) =>
  [
    address?.taxNumber && `${texts.party.taxNumber} ${address.taxNumber}`,
    billingContact?.name,
    billingContact?.phone,
    billingContact?.email
  ].filter((line) => line !== undefined)

/** The text block of a party: the legal name first, then its other name if that differs. */
export const partyLines = (canvas: PdfCanvas, title: string, party: Party, width: number): ReadonlyArray<TextLine> => {
  const name = party.address?.name ?? party.name
  const otherName = name === party.name ? [] : [party.name]
  return [
    ...canvas.wrapText(title, { size: 7, faint: true }, width),
    ...canvas.wrapText(name, { size: 10, bold: true }, width),
    ...[...otherName, ...addressLines(party, canvas.locale)].flatMap((line) =>
      canvas.wrapText(line ?? "", { size: 9 }, width)
    )
  ]
}

export const issuerBlock = (canvas: PdfCanvas, issuer: Parties["tenant"], width: number) => [
  ...partyLines(canvas, canvas.locale.texts.party.issuer, issuer, width),
  ...issuerLines(issuer, canvas.locale).flatMap((line) => canvas.wrapText(line, { size: 9 }, width))
]

const dayOf = (timestamp: string | undefined, { formatTimestamp }: DocumentLocale) =>
  timestamp === undefined ? "–" : formatTimestamp(timestamp)

/** Minimum height of the title. The left halfWidth is reserved for the tenant's logo. */
const letterheadHeight = 64

const halfWidth = contentArea.width / 2

type DocumentContent = Omit<InvoiceDocument, "images">

const numberOf = ({ creditNote, invoice }: DocumentContent) =>
  creditNote === undefined ? invoice.invoiceNumber : creditNote.creditNoteNumber

/** A title in large type. A longer one is smaller, so that it stays on one line. */
export const titleLines = (canvas: PdfCanvas, title: string, width: number) =>
  canvas.fitText(title, { size: 22, bold: true }, [22, 18, 15], width)

const drawTitle = (canvas: PdfCanvas, document: DocumentContent) => {
  const end = canvas.y + letterheadHeight
  const { status } = shownDocument(document)
  const { numbers, titles } = canvas.locale.texts
  const number = numberOf(document) ?? (status === "DRAFT" ? numbers.pending : numbers.missing)
  const width = halfWidth - 16
  for (const line of [
    ...titleLines(canvas, document.creditNote === undefined ? titles.invoice : titles.creditNote, width),
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
    { x: contentArea.left, lines: issuerBlock(canvas, parties.tenant, width) },
    {
      x: contentArea.left + halfWidth,
      lines: partyLines(
        canvas,
        canvas.locale.texts.party.billedTo,
        parties.client,
        logo ? width - clientLogo.width : width
      )
    }
  ])
  canvas.y += 20
}

/** The titles and texts of the first three columns of the terms. */
const termsOf = (
  document: DocumentContent,
  locale: DocumentLocale
): ReadonlyArray<readonly [title: string, text: string]> => {
  const { creditNote, invoice } = document
  const { currencyCode, issuedAt } = shownDocument(document)
  const { terms } = locale.texts
  return [
    [creditNote === undefined ? terms.issueDate : terms.creditDate, dayOf(issuedAt, locale)],
    creditNote === undefined
      ? [terms.dueDate, dayOf(invoice.dueAt, locale)]
      : [terms.invoiceDate, dayOf(invoice.issuedAt, locale)],
    [terms.currency, currencyCode]
  ]
}

/** Dates, currency and contract, between two rules. */
const drawTerms = (canvas: PdfCanvas, document: DocumentContent) => {
  const titleStyle = { size: 7, faint: true }
  const textStyle = { size: 9 }
  const gap = 12
  let x: number = contentArea.left
  const columns = termsOf(document, canvas.locale).map(([title, text]) => {
    const lines = [canvas.layOutLine(title, titleStyle), canvas.layOutLine(text, textStyle)]
    const column = { x, lines }
    x += Math.max(halfWidth / 3, ...lines.map(({ width }) => width + gap))
    return column
  })
  const width = contentArea.right - x
  const contract = [
    ...canvas.wrapText(canvas.locale.texts.terms.contract, titleStyle, width),
    ...canvas.wrapText(document.parties.contract.name, textStyle, width)
  ]
  if (!canvas.hasRoom(60)) canvas.newPage()
  canvas.drawRule()
  canvas.y += 6
  drawTextColumns(canvas, [...columns, { x, lines: contract }])
  canvas.y += 8
  canvas.drawRule()
  canvas.y += 20
}

/** The period of the service and the references of the client. */
const detailsOf = ({ invoice }: DocumentContent, { formatDay, texts }: DocumentLocale): ReadonlyArray<string> => {
  const { buyerReference, deliverToCountry, purchaseOrder, serviceFrom, serviceTo } = invoice
  const { details, labelled } = texts
  const from = serviceFrom && formatDay(serviceFrom)
  const to = serviceTo && formatDay(serviceTo)
  const fields: ReadonlyArray<readonly [label: string, text: string | undefined]> = [
    from !== undefined && to !== undefined
      ? [details.servicePeriod, `${from} – ${to}`]
      : [from === undefined ? details.serviceTo : details.serviceFrom, from ?? to],
    [details.buyerReference, buyerReference],
    [details.purchaseOrder, purchaseOrder],
    [details.deliverTo, deliverToCountry]
  ]
  return fields.flatMap(([label, text]) => (text === undefined ? [] : [labelled(label, text)]))
}

/** What a credit note credits, and why. */
const creditTermsOf = ({ creditNote, invoice }: DocumentContent, { texts }: DocumentLocale) =>
  creditNote === undefined ? [] : [texts.creditFor(invoice.invoiceNumber ?? invoice.id), creditNote.reason]

const drawDetails = (canvas: PdfCanvas, document: DocumentContent) => {
  const texts = [...creditTermsOf(document, canvas.locale), ...detailsOf(document, canvas.locale)]
  if (texts.length === 0) return
  const lines = texts.flatMap((text) => canvas.wrapText(text, { size: 9 }, contentArea.width))
  drawTextColumns(canvas, [{ x: contentArea.left, lines }])
  canvas.y += 16
}

/** What the document is called where it has no number. */
const unnumberedName = ({ creditNote, invoice }: DocumentContent, { texts: { names } }: DocumentLocale) => {
  if ((creditNote ?? invoice).status !== "DRAFT") return names.invoice
  return creditNote === undefined ? names.draftInvoice : names.draftCreditNote
}

const markOf = (document: DocumentContent, { texts: { marks } }: DocumentLocale) => {
  const { status } = shownDocument(document)
  if (status === "DRAFT") return marks.draft
  return status === "VOID" ? marks.void : undefined
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
  const { parties } = document
  const shown = shownDocument(document)
  const locale = documentLocaleOf(parties)
  const name = numberOf(document) ?? unnumberedName(document, locale)
  const canvas = new PdfCanvas(fonts, {
    locale,
    title: name,
    author: parties.tenant.name,
    date: new Date(shown.issuedAt ?? shown.updatedAt),
    watermark: markOf(document, locale),
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
  drawDetails(canvas, document)
  drawLineTable(canvas, document, totalsHeight(document, locale))
  drawTotals(canvas, document)
  drawNotes(canvas, document)
  return canvas.finish(`${name} · ${parties.tenant.name}`)
}
