import type { Client } from "../contracting/Client.ts"
import type { CreditNote } from "../creditNotes/CreditNote.ts"
import type { Invoice } from "../invoicing/Invoice.ts"
import { formatAmount } from "../money/AmountFormat.ts"
import type { Payment } from "../payments/Payment.ts"

/** A cell of a table: a text, or a link to a file of the archive. */
type Cell = string | { readonly text: string; readonly file: string }

/** The HTML table of one kind of rows. */
export interface TablePage<A> {
  readonly title: string
  readonly columns: Readonly<Record<string, (row: A) => Cell>>
}

const escapeHtml = (text: string) => text.replace(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`)

const linkTo = (file: string, text: string) => `<a href="${escapeHtml(file)}">${escapeHtml(text)}</a>`

const style =
  "body{font:15px/1.5 system-ui,sans-serif;margin:2rem}table{border-collapse:collapse}" +
  "th,td{border-bottom:1px solid #ccc;padding:.25rem .75rem;text-align:left}"

/** A page that loads nothing from elsewhere. */
const toPage = (title: string, body: string) =>
  `<!doctype html>\n<html lang="en"><head><meta charset="utf-8"><title>${escapeHtml(title)}</title>` +
  `<style>${style}</style></head>\n<body><h1>${escapeHtml(title)}</h1>\n${body}</body></html>\n`

const amount = (minor: number, currencyCode: string) => `${formatAmount(minor, currencyCode)} ${currencyCode}`
const day = (timestamp: string | undefined) => timestamp?.slice(0, 10) ?? ""

export const clientsPage: TablePage<Client> = {
  title: "Clients",
  columns: {
    Name: ({ name }) => name,
    Description: ({ description = "" }) => description,
    Created: ({ createdAt }) => day(createdAt),
    Identifier: ({ id }) => id
  }
}

/** A row, and its PDF in the archive if it has one. */
export interface WithPdf<A> {
  readonly row: A
  readonly pdf: string | undefined
}

const numberCell = (number: string | undefined, pdf: string | undefined): Cell =>
  pdf === undefined ? (number ?? "") : { text: number ?? pdf, file: pdf }

export const invoicesPage: TablePage<WithPdf<Invoice>> = {
  title: "Invoices",
  columns: {
    Number: ({ pdf, row }) => numberCell(row.invoiceNumber, pdf),
    Status: ({ row }) => row.status,
    Issued: ({ row }) => day(row.issuedAt),
    Due: ({ row }) => day(row.dueAt),
    Total: ({ row }) => amount(row.totalMinor, row.currencyCode),
    Balance: ({ row }) => amount(row.balanceMinor, row.currencyCode),
    Contract: ({ row }) => row.contract,
    Identifier: ({ row }) => row.id
  }
}

export const creditNotesPage: TablePage<WithPdf<CreditNote>> = {
  title: "Credit notes",
  columns: {
    Number: ({ pdf, row }) => numberCell(row.creditNoteNumber, pdf),
    Status: ({ row }) => row.status,
    Issued: ({ row }) => day(row.issuedAt),
    Total: ({ row }) => amount(row.totalMinor, row.currencyCode),
    Invoice: ({ row }) => row.invoice,
    Client: ({ row }) => row.client,
    Identifier: ({ row }) => row.id
  }
}

export const paymentsPage: TablePage<Payment> = {
  title: "Payments",
  columns: {
    Received: ({ receivedAt }) => day(receivedAt),
    Amount: ({ amountMinor, currencyCode }) => amount(amountMinor, currencyCode),
    Status: ({ status }) => status,
    Reference: ({ reference = "" }) => reference,
    Client: ({ client }) => client,
    Invoices: ({ allocations }) => allocations.map(({ invoice }) => invoice).join(" "),
    Identifier: ({ id }) => id
  }
}

/** Where a page is among the pages of its table, from 1. */
export interface PagePlace {
  readonly number: number
  readonly hasNext: boolean
}

/** The file of a page of a table, in the folder of the pages. */
export const pageFileOf = ({ title }: Pick<TablePage<never>, "title">, number: number) =>
  `${title.toLowerCase().replaceAll(" ", "-")}-${number}.html`

/** One page of a table. The page is in a folder of the archive, and its links name files from the top. */
export const renderTablePage = <A>(table: TablePage<A>, rows: ReadonlyArray<A>, { hasNext, number }: PagePlace) => {
  const columns = Object.entries(table.columns)
  const toCell = (cell: Cell) =>
    `<td>${typeof cell === "string" ? escapeHtml(cell) : linkTo(`../${cell.file}`, cell.text)}</td>`
  const lines = rows.map((row) => `<tr>${columns.map(([, cellOf]) => toCell(cellOf(row))).join("")}</tr>\n`)
  const navigation = [
    linkTo("../index.html", "Overview"),
    ...(number > 1 ? [linkTo(pageFileOf(table, number - 1), "Previous page")] : []),
    ...(hasNext ? [linkTo(pageFileOf(table, number + 1), "Next page")] : [])
  ].join(" · ")
  const head = columns.map(([name]) => `<th>${escapeHtml(name)}</th>`).join("")
  return toPage(
    `${table.title}, page ${number}`,
    `<p>${navigation}</p>\n<table><thead><tr>${head}</tr></thead><tbody>\n${lines.join("")}</tbody></table>\n` +
      `<p>${navigation}</p>\n`
  )
}

/** What the first page of an archive says about it. */
export interface ExportSummary {
  readonly tenant: { readonly id: string; readonly name: string }
  readonly startedAt: string
  /** The first page of each table that has rows. */
  readonly pages: ReadonlyArray<{ readonly title: string; readonly file: string }>
  readonly files: ReadonlyArray<{ readonly name: string; readonly rows: number }>
  readonly checksums: string
}

/** The page to start from. */
export const renderIndex = ({ checksums, files, pages, startedAt, tenant }: ExportSummary) => {
  const tables = pages.map(({ file, title }) => `<li>${linkTo(file, title)}</li>\n`).join("")
  const rows = files.map(({ name, rows }) => `<tr><td>${linkTo(name, name)}</td><td>${rows}</td></tr>\n`).join("")
  return toPage(
    tenant.name,
    `<p>Everything of tenant ${escapeHtml(tenant.id)}, exported from ${escapeHtml(startedAt)} on.</p>\n` +
      `<h2>To read</h2>\n<ul>\n${tables}</ul>\n` +
      "<p>PDFs are in the folders invoices and credit-notes, images in images.</p>\n" +
      `<h2>For programs</h2>\n<table><thead><tr><th>File</th><th>Rows</th></tr></thead><tbody>\n${rows}</tbody></table>\n` +
      `<p>One JSON object per line. ${linkTo(checksums, checksums)} has the SHA-256 of every file.</p>\n`
  )
}
