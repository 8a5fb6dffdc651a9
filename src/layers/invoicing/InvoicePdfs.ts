import { Effect, Stream } from "effect"
import type { NotFound, ServiceUnavailable, TooManyRequests } from "../../domain/Errors.ts"
import type { Invoice } from "../../domain/invoicing/Invoice.ts"
import { asVariant, type FileVariant } from "../../domain/invoicing/InvoiceFile.ts"
import { CurrentTenant } from "../../domain/tenancy/Caller.ts"
import { makeSingleFlight } from "../concurrency/SingleFlight.ts"
import { Drawing } from "../pdf/Drawing.ts"
import { type InvoiceFile, InvoiceFiles } from "./InvoiceFiles.ts"
import { WholeInvoices } from "./WholeInvoices.ts"

type Identified = Pick<Invoice, "id" | "billableCount">

/** The PDFs of invoices: drafts are drawn each time, issued ones once. */
export class InvoicePdfs extends Effect.Service<InvoicePdfs>()("layers/InvoicePdfs", {
  dependencies: [WholeInvoices.Default, InvoiceFiles.Default, Drawing.Default],
  effect: Effect.gen(function* () {
    const whole = yield* WholeInvoices
    const files = yield* InvoiceFiles
    const drawing = yield* Drawing
    const share = makeSingleFlight<InvoiceFile, NotFound | ServiceUnavailable | TooManyRequests>()

    const load = (id: string, shown: (invoice: Invoice) => Invoice) =>
      Effect.gen(function* () {
        const read = yield* whole.get(id)
        const invoice = shown(read.invoice)
        return { ...read, invoice, images: yield* whole.images(invoice) }
      })

    const draw = (
      { billableCount, id }: Identified,
      keys: ReadonlyArray<string>,
      shown: (invoice: Invoice) => Invoice = (invoice) => invoice
    ) =>
      Effect.flatMap(CurrentTenant, (tenant) =>
        drawing.invoice({ keys: [tenant, ...keys], lineCount: billableCount, load: load(id, shown) })
      )

    const drawAndKeep = (invoice: Identified, variant: FileVariant, keys: ReadonlyArray<string>) =>
      Effect.flatMap(
        draw(invoice, keys, (read) => asVariant(read, variant)),
        (pdf) => files.keep(invoice.id, variant, pdf)
      )

    return {
      /** An invoice drawn as it is. The work is charged to the tenant, and to these keys as well. */
      preview: (invoice: Identified, keys: ReadonlyArray<string> = []) => draw(invoice, keys),

      /** The kept file of an issued invoice. The first request draws it, for all that come meanwhile. */
      issued: Effect.fnUntraced(function* (
        invoice: Identified,
        variant: FileVariant,
        keys: ReadonlyArray<string> = []
      ) {
        const kept = yield* files.find(invoice.id, variant)
        if (kept !== undefined) return kept
        const tenant = yield* CurrentTenant
        return yield* share(`${tenant} ${invoice.id} ${variant}`, drawAndKeep(invoice, variant, keys))
      }),

      /** The bytes of a kept file, as they are read. */
      read: (file: InvoiceFile) => files.read(file),

      readWhole: (file: InvoiceFile) =>
        Effect.map(Stream.runCollect(files.read(file)), (pieces) => new Uint8Array(Buffer.concat([...pieces])))
    }
  })
}) {}
