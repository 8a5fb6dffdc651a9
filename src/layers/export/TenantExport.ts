import { Chunk, Effect, Option, Schedule, Stream } from "effect"
import type { Asset } from "../../domain/branding/Asset.ts"
import type { CreditNote } from "../../domain/creditNotes/CreditNote.ts"
import {
  clientsPage,
  creditNotesPage,
  invoicesPage,
  pageFileOf,
  paymentsPage,
  renderIndex,
  renderTablePage,
  type TablePage,
  type WithPdf
} from "../../domain/export/ExportPages.ts"
import { creditNotePdfName, pdfNameOf } from "../../domain/invoicing/document/FileName.ts"
import { variantOf } from "../../domain/invoicing/document/InvoiceFile.ts"
import type { Invoice } from "../../domain/invoicing/Invoice.ts"
import type { CurrentTenant } from "../../domain/tenancy/RequestContext.ts"
import { Assets } from "../branding/Assets.ts"
import { CreditNotePdfs } from "../creditNotes/CreditNotePdfs.ts"
import { InvoicePdfs } from "../invoicing/document/InvoicePdfs.ts"
import { checksumsName, withChecksums } from "./Checksums.ts"
import { ExportedRows } from "./ExportedRows.ts"
import { type ArchiveFile, makeZipArchive } from "./ZipArchive.ts"

type File = ArchiveFile<CurrentTenant>
type Files = Stream.Stream<File, never, CurrentTenant>

/** The renderer can be busy with the documents of others. An archive waits for it instead of ending incomplete. */
const renderRetries = Schedule.intersect(Schedule.spaced("2 seconds"), Schedule.recurs(60))

/** The identifier makes the name unique: two numbers can differ only in characters that no file name has. */
const withId = (pdfName: string, id: string) => pdfName.replace(/\.pdf$/, `_${id}.pdf`)

const imageNameOf = ({ assetId, contentType }: Asset) => `images/${assetId}.${contentType.replace("image/", "")}`

const textFile = (name: string, text: () => string): File => ({
  name,
  bytes: Stream.sync(() => Buffer.from(text())),
  isCompressible: true
})

/** What the index tells of the files before it. */
class Contents {
  readonly files: Array<{ readonly name: string; rows: number }> = []
  readonly pages: Array<{ readonly title: string; readonly file: string }> = []
}

/** Everything of a tenant as one archive, which is made while it is read. */
export class TenantExport extends Effect.Service<TenantExport>()("layers/TenantExport", {
  dependencies: [Assets.Default, CreditNotePdfs.Default, ExportedRows.Default, InvoicePdfs.Default],
  effect: Effect.gen(function* () {
    const assets = yield* Assets
    const creditNotePdfs = yield* CreditNotePdfs
    const invoicePdfs = yield* InvoicePdfs
    const { lines, rows, tenant } = yield* ExportedRows

    const dataFiles = (contents: Contents): Files =>
      Stream.map(Stream.fromIterable(Object.entries(lines)), ([kind, pages]) => {
        const file = { name: `data/${kind}.jsonl`, rows: 0 }
        contents.files.push(file)
        const bytes = Stream.filterMap(pages, (page) => {
          file.rows += page.length
          return page.length === 0 ? Option.none() : Option.some(Buffer.from(`${page.join("\n")}\n`))
        })
        return { name: file.name, bytes, isCompressible: true }
      })

    /** The pages of a table to look at, each after the files of its rows. */
    const tableFiles = <A>(
      table: TablePage<A>,
      pages: Stream.Stream<ReadonlyArray<A>, never, CurrentTenant>,
      contents: Contents,
      filesOf: (row: A) => ReadonlyArray<File> = () => []
    ): Files =>
      Stream.filter(pages, (page) => page.length > 0).pipe(
        Stream.zipWithNext,
        Stream.zipWithIndex,
        Stream.flatMap(([[page, next], index]) => {
          const file = `pages/${pageFileOf(table, index + 1)}`
          if (index === 0) contents.pages.push({ title: table.title, file })
          const place = { number: index + 1, hasNext: Option.isSome(next) }
          return Stream.fromIterable([
            ...page.flatMap(filesOf),
            textFile(file, () => renderTablePage(table, page, place))
          ])
        })
      )

    const pdfFile = <E>(
      name: string,
      file: Effect.Effect<Parameters<typeof invoicePdfs.read>[0], E, CurrentTenant>
    ): File => ({
      name,
      bytes: Stream.unwrap(
        Effect.map(Effect.orDie(Effect.retry(file, renderRetries)), (saved) => invoicePdfs.read(saved))
      ),
      isCompressible: false
    })

    const withPdfs = <A>(
      pages: Stream.Stream<ReadonlyArray<A>, never, CurrentTenant>,
      pdfOf: (row: A) => string | undefined
    ) => Stream.map(pages, (page) => page.map((row): WithPdf<A> => ({ row, pdf: pdfOf(row) })))

    const invoicePdfOf = (invoice: Invoice) =>
      variantOf(invoice) === undefined ? undefined : `invoices/${withId(pdfNameOf(invoice), invoice.id)}`
    const invoiceFiles = ({ pdf, row }: WithPdf<Invoice>) => {
      const variant = variantOf(row)
      return pdf === undefined || variant === undefined ? [] : [pdfFile(pdf, invoicePdfs.getIssued(row, variant))]
    }

    const creditNotePdfOf = (note: CreditNote) =>
      note.status === "DRAFT" ? undefined : `credit-notes/${withId(creditNotePdfName(note), note.id)}`
    const creditNoteFiles = ({ pdf, row }: WithPdf<CreditNote>) =>
      pdf === undefined ? [] : [pdfFile(pdf, creditNotePdfs.getIssued(row))]

    /** None if the asset is deleted meanwhile. */
    const findImage = (asset: Asset) =>
      Effect.option(
        Effect.map(
          assets.openImage(asset.assetId, true),
          ({ bytes }): File => ({ name: imageNameOf(asset), bytes, isCompressible: false })
        )
      )
    const imageFiles: Files = rows.assets.pipe(
      Stream.flatMap((page) => Stream.fromIterable(page.filter(({ status }) => status === "READY"))),
      Stream.mapEffect(findImage),
      Stream.filterMap((file) => file)
    )

    const filesOf = (contents: Contents, startedAt: Date): Files =>
      Stream.unwrap(
        Effect.map(tenant, (owner) => {
          const index = () =>
            renderIndex({ ...contents, tenant: owner, startedAt: startedAt.toISOString(), checksums: checksumsName })
          return Stream.concatAll(
            Chunk.make(
              dataFiles(contents),
              tableFiles(clientsPage, rows.clients, contents),
              tableFiles(invoicesPage, withPdfs(rows.invoices, invoicePdfOf), contents, invoiceFiles),
              tableFiles(creditNotesPage, withPdfs(rows["credit-notes"], creditNotePdfOf), contents, creditNoteFiles),
              tableFiles(paymentsPage, rows.payments, contents),
              imageFiles,
              Stream.make(textFile("index.html", index))
            )
          )
        })
      )

    return {
      /**
       * The archive of the current tenant. It reads a page of rows at a time, each in a statement of its own: a snapshot
       * would stay open for as long as the client reads, and keep PostgreSQL from removing dead rows of all tenants.
       */
      archive: Stream.suspend(() => {
        const startedAt = new Date()
        return makeZipArchive(withChecksums(filesOf(new Contents(), startedAt)), startedAt)
      })
    }
  })
}) {}
