import type { InvoiceDocument } from "../../../domain/invoicing/InvoiceDocument.ts"
import { majorText } from "../../../domain/money/Money.ts"
import type { Fonts } from "./Fonts.ts"
import { drawLines } from "./Lines.ts"
import { room } from "./Page.ts"
import { drawParty } from "./Party.ts"
import { Sheet } from "./Sheet.ts"

const dayOf = (timestamp: string | undefined) => timestamp?.slice(0, 10) ?? "–"

const marks: Partial<Record<string, string>> = { DRAFT: "DRAFT", VOID: "VOID" }

/** Kept free above the parties for the sender's logo. */
const letterhead = 56

const right = { x: room.left + room.width / 2, width: room.width / 2, align: "right" } as const

const drawTitle = (sheet: Sheet, { invoice, parties }: InvoiceDocument) => {
  const start = sheet.y
  let y = sheet.write("INVOICE", { ...right, size: 20, bold: true }, start)
  y = sheet.write(invoice.invoiceNumber ?? "not numbered yet", { ...right, size: 11 }, y) + 6
  y = sheet.write(`Issued ${dayOf(invoice.issuedAt)}`, { ...right, faint: true }, y)
  y = sheet.write(`Due ${dayOf(invoice.dueAt)}`, { ...right, faint: true }, y)
  y = sheet.write(parties.contract.name, { ...right, faint: true }, y)
  sheet.y = Math.max(y, start + letterhead) + 18
}

const drawParties = (sheet: Sheet, { parties }: InvoiceDocument) => {
  const width = room.width / 2 - 16
  const from = drawParty(sheet, "FROM", parties.tenant, { x: room.left, width })
  const to = drawParty(sheet, "BILL TO", parties.client, { x: room.left + room.width / 2, width })
  sheet.y = Math.max(from, to) + 22
}

const drawTotals = (sheet: Sheet, { invoice }: InvoiceDocument) => {
  const label = { x: right.x, width: right.width - 130, align: "right" } as const
  const amount = { x: room.right - 130, width: 126, align: "right" } as const
  if (!sheet.fits(52)) sheet.newPage()
  sheet.y += 6
  const row = (title: string, minor: number, style: { readonly bold: boolean; readonly size: number }) => {
    sheet.write(title, { ...label, ...style })
    sheet.y = sheet.write(majorText(minor, invoice.currencyCode), { ...amount, ...style }) + 4
  }
  row("Subtotal", invoice.subtotalMinor, { bold: false, size: 9 })
  row(`Total ${invoice.currencyCode}`, invoice.totalMinor, { bold: true, size: 11 })
}

/** An invoice on A4. What it is drawn of decides every byte of it. */
export const drawInvoice = (fonts: Fonts, document: InvoiceDocument): Promise<Uint8Array> => {
  const { invoice, lines, parties } = document
  const name = invoice.invoiceNumber ?? "Draft invoice"
  const sheet = new Sheet(fonts, {
    title: name,
    author: parties.tenant.name,
    date: new Date(invoice.issuedAt ?? invoice.updatedAt),
    mark: marks[invoice.status]
  })
  drawTitle(sheet, document)
  drawParties(sheet, document)
  drawLines(sheet, lines, invoice.currencyCode)
  drawTotals(sheet, document)
  return sheet.finish(`${name} · ${parties.tenant.name}`)
}
