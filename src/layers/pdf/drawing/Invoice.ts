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

const marks: Partial<Record<string, string>> = { DRAFT: "DRAFT", VOID: "VOID" }

/** The left half is kept free for the sender's logo, at least this far down. */
const letterhead = 64

const half = room.width / 2

type Drawn = Omit<InvoiceDocument, "images">

const drawTitle = (sheet: Sheet, { invoice }: Drawn) => {
  const end = sheet.y + letterhead
  const number = invoice.invoiceNumber ?? (invoice.status === "DRAFT" ? "No number yet" : "No number")
  const width = half - 16
  for (const line of [
    ...sheet.lines("INVOICE", { size: 22, bold: true }, width),
    ...sheet.lines(number, { size: 11 }, width)
  ]) {
    sheet.y += leadingOf(line)
    sheet.drawRight(line, room.right, sheet.y - line.style.size * 0.5)
  }
  sheet.y = Math.max(sheet.y, end) + 16
}

/** Room beside the client's address for its logo. */
const emblem = { width: 96, height: 48 }

const drawParties = (sheet: Sheet, { parties }: Drawn, logo: Buffer | undefined) => {
  const width = half - 16
  sheet.image(logo, { x: room.right - emblem.width, y: sheet.y, ...emblem }, "right")
  drawColumns(sheet, [
    { x: room.left, lines: partyLines(sheet, "FROM", parties.tenant, width) },
    { x: room.left + half, lines: partyLines(sheet, "BILL TO", parties.client, logo ? width - emblem.width : width) }
  ])
  sheet.y += 20
}

/** What the invoice is about, in a strip between two rules. */
const drawTerms = (sheet: Sheet, { invoice, parties }: Drawn) => {
  const wide = half / 3
  const term = (x: number, title: string, text: string, width = wide - 12) => ({
    x: room.left + x,
    lines: [...sheet.lines(title, { size: 7, faint: true }, width), ...sheet.lines(text, { size: 9 }, width)]
  })
  if (!sheet.fits(60)) sheet.newPage()
  sheet.rule()
  sheet.y += 6
  drawColumns(sheet, [
    term(0, "ISSUE DATE", dayOf(invoice.issuedAt)),
    term(wide, "DUE DATE", dayOf(invoice.dueAt)),
    term(2 * wide, "CURRENCY", invoice.currencyCode),
    term(half, "CONTRACT", parties.contract.name, half)
  ])
  sheet.y += 8
  sheet.rule()
  sheet.y += 20
}

/** An invoice on A4. What it is drawn of decides every byte of it. */
export const drawInvoice = (
  fonts: Fonts,
  document: Omit<InvoiceDocument, "images">,
  images: DrawableImages = {}
): Promise<Uint8Array<ArrayBuffer>> => {
  const { invoice, parties } = document
  const name = invoice.invoiceNumber ?? (invoice.status === "DRAFT" ? "Draft invoice" : "Invoice")
  const sheet = new Sheet(fonts, {
    title: name,
    author: parties.tenant.name,
    date: new Date(invoice.issuedAt ?? invoice.updatedAt),
    mark: marks[invoice.status],
    // A client's own background takes the place of the usual one.
    background: images["client-background"] ?? images["tenant-background"]
  })
  sheet.image(images["tenant-logo"], { x: room.left, y: sheet.y, width: half - 16, height: letterhead }, "left")
  drawTitle(sheet, document)
  drawParties(sheet, document, images["client-logo"])
  drawTerms(sheet, document)
  drawLines(sheet, document, totalsHeight)
  drawTotals(sheet, invoice)
  return sheet.finish(`${name} · ${parties.tenant.name}`)
}
