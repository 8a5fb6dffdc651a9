import type { InvoiceDocument } from "../../../domain/invoicing/InvoiceDocument.ts"
import { drawColumns } from "./Columns.ts"
import type { Fonts } from "./Fonts.ts"
import type { DrawableImages } from "./Images.ts"
import { drawLines } from "./Lines.ts"
import { room } from "./Page.ts"
import { partyLines } from "./Party.ts"
import { leadingOf, Sheet } from "./Sheet.ts"
import { drawTotals, totalsHeight } from "./Totals.ts"

const dayOf = (timestamp: string | undefined) => timestamp?.slice(0, 10) ?? "–"

const watermarks: Partial<Record<string, string>> = { DRAFT: "DRAFT", VOID: "VOID" }

/** Minimum height of the title. The left halfWidth is reserved for the tenant's logo. */
const letterheadHeight = 64

const halfWidth = room.width / 2

type DocumentContent = Omit<InvoiceDocument, "images">

const drawTitle = (canvas: Sheet, { invoice }: DocumentContent) => {
  const end = canvas.y + letterheadHeight
  const number = invoice.invoiceNumber ?? (invoice.status === "DRAFT" ? "No number yet" : "No number")
  const width = halfWidth - 16
  for (const line of [
    ...canvas.lines("INVOICE", { size: 22, bold: true }, width),
    ...canvas.lines(number, { size: 11 }, width)
  ]) {
    canvas.y += leadingOf(line)
    canvas.drawRight(line, room.right, canvas.y - line.style.size * 0.5)
  }
  canvas.y = Math.max(canvas.y, end) + 16
}

/** Size of the client's logo next to the client's address. */
const clientLogo = { width: 96, height: 48 }

const drawParties = (canvas: Sheet, { parties }: DocumentContent, logo: Buffer | undefined) => {
  const width = halfWidth - 16
  canvas.image(logo, { x: room.right - clientLogo.width, y: canvas.y, ...clientLogo }, "right")
  drawColumns(canvas, [
    { x: room.left, lines: partyLines(canvas, "FROM", parties.tenant, width) },
    {
      x: room.left + halfWidth,
      lines: partyLines(canvas, "BILL TO", parties.client, logo ? width - clientLogo.width : width)
    }
  ])
  canvas.y += 20
}

/** Dates, currency and contract, between two rules. */
const drawTerms = (canvas: Sheet, { invoice, parties }: DocumentContent) => {
  const columnWidth = halfWidth / 3
  const term = (x: number, title: string, text: string, width = columnWidth - 12) => ({
    x: room.left + x,
    lines: [...canvas.lines(title, { size: 7, faint: true }, width), ...canvas.lines(text, { size: 9 }, width)]
  })
  if (!canvas.fits(60)) canvas.newPage()
  canvas.rule()
  canvas.y += 6
  drawColumns(canvas, [
    term(0, "ISSUE DATE", dayOf(invoice.issuedAt)),
    term(columnWidth, "DUE DATE", dayOf(invoice.dueAt)),
    term(2 * columnWidth, "CURRENCY", invoice.currencyCode),
    term(halfWidth, "CONTRACT", parties.contract.name, halfWidth)
  ])
  canvas.y += 8
  canvas.rule()
  canvas.y += 20
}

/** Draws an invoice on A4 pages. The output is deterministic: equal documents give equal bytes. */
export const drawInvoice = (
  fonts: Fonts,
  document: Omit<InvoiceDocument, "images">,
  images: DrawableImages = {}
): Promise<Uint8Array<ArrayBuffer>> => {
  const { invoice, parties } = document
  const name = invoice.invoiceNumber ?? (invoice.status === "DRAFT" ? "Draft invoice" : "Invoice")
  const canvas = new Sheet(fonts, {
    title: name,
    author: parties.tenant.name,
    date: new Date(invoice.issuedAt ?? invoice.updatedAt),
    mark: watermarks[invoice.status],
    // The client's background overrides the tenant's.
    background: images["client-background"] ?? images["tenant-background"]
  })
  canvas.image(
    images["tenant-logo"],
    { x: room.left, y: canvas.y, width: halfWidth - 16, height: letterheadHeight },
    "left"
  )
  drawTitle(canvas, document)
  drawParties(canvas, document, images["client-logo"])
  drawTerms(canvas, document)
  drawLines(canvas, document, totalsHeight)
  drawTotals(canvas, invoice)
  return canvas.finish(`${name} · ${parties.tenant.name}`)
}
