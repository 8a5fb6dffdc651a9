import * as SqlClient from "@effect/sql/SqlClient"
import { Effect, Schema, Stream } from "effect"
import type { NotFound, ServiceUnavailable, TooManyRequests } from "../../../domain/Errors.ts"
import { asVariant, type FileVariant } from "../../../domain/invoicing/document/InvoiceFile.ts"
import { Parties as PartiesSchema } from "../../../domain/invoicing/document/Parties.ts"
import type { Invoice } from "../../../domain/invoicing/Invoice.ts"
import { CurrentTenant } from "../../../domain/tenancy/RequestContext.ts"
import { makeSingleFlight } from "../../infra/concurrency/SingleFlight.ts"
import { PdfRenderer } from "../../infra/pdf/PdfRenderer.ts"
import { inSnapshot } from "../../infra/postgres/connection/Transactions.ts"
import { withSpans } from "../../infra/telemetry/UseCaseSpans.ts"
import { Billables } from "../Billables.ts"
import { Invoices } from "../Invoices.ts"
import { type InvoiceFile, InvoiceFiles } from "./InvoiceFiles.ts"
import { InvoiceImageStore } from "./InvoiceImageStore.ts"
import { InvoiceParties } from "./InvoiceParties.ts"

const decodeParties = Schema.decodeUnknown(PartiesSchema)

/** Reads an invoice with its lines and parties in one snapshot. */
export class InvoiceDetails extends Effect.Service<InvoiceDetails>()("layers/InvoiceDetails", {
  dependencies: [Billables.Default, Invoices.Default, InvoiceParties.Default, InvoiceImageStore.Default],
  effect: Effect.gen(function* () {
    const sql = yield* SqlClient.SqlClient
    const billables = yield* Billables
    const invoices = yield* Invoices
    const parties = yield* InvoiceParties
    const images = yield* InvoiceImageStore

    /** An invoice with its parties: the frozen ones of an issued invoice, the current ones of a draft. */
    const getHead = Effect.fnUntraced(function* (id: string) {
      const invoice = yield* invoices.get(id)
      const frozen = yield* invoices.findFrozenParties(id)
      const shownParties =
        frozen === undefined
          ? yield* parties.loadByContract(invoice.contract)
          : yield* Effect.orDie(decodeParties(frozen))
      return { invoice, parties: shownParties }
    })

    return {
      getHead,

      countLines: (id: string) => Effect.map(invoices.get(id), ({ billableCount }) => billableCount),

      /** Everything that the PDF shows except the images. The caller reads these after the snapshot ends. */
      get: (id: string) =>
        Effect.gen(function* () {
          const head = yield* getHead(id)
          const lines = yield* billables.listAll({ invoice: id })
          return { ...head, lines: lines.map(({ value }) => value) }
        }).pipe(inSnapshot(sql)),

      loadImages: ({ contract, id, invoiceNumber }: Invoice) => images.load(id, contract, invoiceNumber !== undefined)
    }
  }).pipe(withSpans("InvoiceDetails"))
}) {}

type InvoiceRef = Pick<Invoice, "id" | "billableCount">

/** PDFs of invoices. A draft is rendered for every request, an issued invoice once. */
export class InvoicePdfs extends Effect.Service<InvoicePdfs>()("layers/InvoicePdfs", {
  dependencies: [InvoiceDetails.Default, InvoiceFiles.Default, PdfRenderer.Default],
  effect: Effect.gen(function* () {
    const details = yield* InvoiceDetails
    const files = yield* InvoiceFiles
    const renderer = yield* PdfRenderer
    const singleFlight = makeSingleFlight<InvoiceFile, NotFound | ServiceUnavailable | TooManyRequests>()

    const load = (id: string, transform: (invoice: Invoice) => Invoice) =>
      Effect.gen(function* () {
        const read = yield* details.get(id)
        const invoice = transform(read.invoice)
        return { ...read, invoice, images: yield* details.loadImages(invoice) }
      })

    const render = (
      { billableCount, id }: InvoiceRef,
      keys: ReadonlyArray<string>,
      transform: (invoice: Invoice) => Invoice = (invoice) => invoice
    ) =>
      Effect.flatMap(CurrentTenant, (tenant) =>
        renderer.renderInvoice({ keys: [tenant, ...keys], lineCount: billableCount, load: load(id, transform) })
      )

    const renderAndSave = (invoice: InvoiceRef, variant: FileVariant, keys: ReadonlyArray<string>) =>
      Effect.flatMap(
        render(invoice, keys, (read) => asVariant(read, variant)),
        (pdf) => files.save(invoice.id, variant, pdf)
      )

    return {
      /**
       * Renders an invoice in its current state. The concurrency limit counts the work for the tenant and for each of
       * `keys`.
       */
      renderPreview: (invoice: InvoiceRef, keys: ReadonlyArray<string> = []) => render(invoice, keys),

      /** The saved file of an issued invoice. The first request renders it; concurrent requests share the result. */
      getIssued: Effect.fnUntraced(function* (
        invoice: InvoiceRef,
        variant: FileVariant,
        keys: ReadonlyArray<string> = []
      ) {
        const saved = yield* files.find(invoice.id, variant)
        if (saved !== undefined) return saved
        const tenant = yield* CurrentTenant
        return yield* singleFlight(`${tenant} ${invoice.id} ${variant}`, renderAndSave(invoice, variant, keys))
      }),

      /** Streams the bytes of a saved file. */
      read: (file: InvoiceFile) => files.read(file),

      readAll: (file: InvoiceFile) =>
        Effect.map(Stream.runCollect(files.read(file)), (chunks) => new Uint8Array(Buffer.concat([...chunks])))
    }
  }).pipe(withSpans("InvoicePdfs"))
}) {}
