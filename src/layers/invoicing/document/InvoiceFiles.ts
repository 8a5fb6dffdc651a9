import * as SqlClient from "@effect/sql/SqlClient"
import { Effect, Stream } from "effect"
import type { QueuedFile } from "../../../domain/invoicing/document/InvoiceFile.ts"
import { CurrentTenant } from "../../../domain/tenancy/RequestContext.ts"
import { Blobs, type StagedUpload } from "../../branding/Blobs.ts"
import { inTransaction } from "../../infra/postgres/connection/Transactions.ts"
import { withSpans } from "../../infra/telemetry/UseCaseSpans.ts"

/** A file that is saved as a blob of its tenant. */
export interface InvoiceFile {
  readonly digest: string
  readonly sizeBytes: number
}

const chunkBytes = 256 * 1024

const toChunks = (bytes: Uint8Array) =>
  Stream.fromIterable(
    Array.from({ length: Math.ceil(bytes.length / chunkBytes) }, (_, index) =>
      bytes.subarray(index * chunkBytes, (index + 1) * chunkBytes)
    )
  )

/** Repository of the PDFs of issued invoices and credit notes. Each PDF is rendered once and saved. */
export class InvoiceFiles extends Effect.Service<InvoiceFiles>()("layers/InvoiceFiles", {
  dependencies: [Blobs.Default],
  effect: Effect.gen(function* () {
    const sql = yield* SqlClient.SqlClient
    const blobs = yield* Blobs

    const find = (document: string, variant: QueuedFile) =>
      Effect.flatMap(CurrentTenant, (tenant) =>
        Effect.orDie(
          variant === "CREDIT_NOTE"
            ? sql<InvoiceFile>`
                select digest, size_bytes as "sizeBytes" from credit_note_files
                where tenant_id = ${tenant} and credit_note_id = ${document}`
            : sql<InvoiceFile>`
                select digest, size_bytes as "sizeBytes" from invoice_files
                where tenant_id = ${tenant} and invoice_id = ${document} and variant = ${variant}`
        )
      ).pipe(Effect.map(([file]) => file))

    const buildInsert = (tenant: string, document: string, variant: QueuedFile, { digest, sizeBytes }: StagedUpload) =>
      variant === "CREDIT_NOTE"
        ? sql`insert into credit_note_files (tenant_id, credit_note_id, digest, size_bytes)
            values (${tenant}, ${document}, ${digest}, ${sizeBytes})`
        : sql`insert into invoice_files (tenant_id, invoice_id, variant, digest, size_bytes)
            values (${tenant}, ${document}, ${variant}, ${digest}, ${sizeBytes})`

    /** Returns false when another process has saved the file first; that file stays. */
    const insert = (tenant: string, document: string, variant: QueuedFile, uploaded: StagedUpload) =>
      Effect.map(
        sql<object>`
          with dequeued as (
            delete from invoice_file_queue
            where tenant_id = ${tenant} and invoice_id = ${document} and variant = ${variant}
          )
          ${buildInsert(tenant, document, variant, uploaded)}
          on conflict do nothing returning 1`,
        (inserted) => inserted.length > 0
      )

    const saveUpload = (document: string, variant: QueuedFile, uploaded: StagedUpload) =>
      Effect.gen(function* () {
        const tenant = yield* CurrentTenant
        const isPromoted = yield* blobs.promote(uploaded, "document")
        const isInserted = yield* insert(tenant, document, variant, uploaded)
        if (!isInserted) yield* blobs.release(uploaded.digest)
        return isPromoted
      }).pipe(inTransaction(sql))

    return {
      find,

      /** Saves a rendered file. Uploads the bytes before the transaction begins, so that the upload holds no locks. */
      save: Effect.fnUntraced(function* (document: string, variant: QueuedFile, pdf: Uint8Array) {
        const uploaded = yield* blobs.upload(toChunks(pdf), pdf.length)
        const isPromoted = yield* Effect.onError(saveUpload(document, variant, uploaded), () =>
          Effect.ignoreLogged(blobs.discard(uploaded))
        )
        if (!isPromoted) yield* blobs.discard(uploaded)
        const saved = yield* find(document, variant)
        return saved ?? (yield* Effect.dieMessage(`The file of ${document} was not saved`))
      }),

      read: ({ digest }: InvoiceFile) =>
        Stream.unwrap(Effect.map(CurrentTenant, (tenant) => blobs.read(tenant, digest)))
    }
  }).pipe(withSpans("InvoiceFiles"))
}) {}
