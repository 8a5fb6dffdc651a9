import * as SqlClient from "@effect/sql/SqlClient"
import { Effect, Stream } from "effect"
import type { FileVariant } from "../../domain/invoicing/InvoiceFile.ts"
import { CurrentTenant } from "../../domain/tenancy/Caller.ts"
import { Blobs, type Uploaded } from "../branding/Blobs.ts"
import { atomically } from "../postgres/connection/Transaction.ts"

/** A file that is kept as a blob of its tenant. */
export interface InvoiceFile {
  readonly digest: string
  readonly sizeBytes: number
}

const pieceBytes = 256 * 1024

const piecesOf = (bytes: Uint8Array) =>
  Stream.fromIterable(
    Array.from({ length: Math.ceil(bytes.length / pieceBytes) }, (_, index) =>
      bytes.subarray(index * pieceBytes, (index + 1) * pieceBytes)
    )
  )

/** The PDFs of issued invoices, each kept once it is drawn. */
export class InvoiceFiles extends Effect.Service<InvoiceFiles>()("layers/InvoiceFiles", {
  dependencies: [Blobs.Default],
  effect: Effect.gen(function* () {
    const sql = yield* SqlClient.SqlClient
    const blobs = yield* Blobs

    const find = (invoice: string, variant: FileVariant) =>
      Effect.flatMap(CurrentTenant, (tenant) =>
        Effect.orDie(sql<InvoiceFile>`
          select digest, size_bytes as "sizeBytes" from invoice_files
          where tenant_id = ${tenant} and invoice_id = ${invoice} and variant = ${variant}`)
      ).pipe(Effect.map(([file]) => file))

    /** The first file stays if another process has kept one meanwhile. Tells whether ours is the one. */
    const insert = (tenant: string, invoice: string, variant: FileVariant, { digest, sizeBytes }: Uploaded) =>
      Effect.map(
        sql<object>`
          with dequeued as (
            delete from invoice_file_queue
            where tenant_id = ${tenant} and invoice_id = ${invoice} and variant = ${variant}
          )
          insert into invoice_files (tenant_id, invoice_id, variant, digest, size_bytes)
          values (${tenant}, ${invoice}, ${variant}, ${digest}, ${sizeBytes})
          on conflict do nothing returning 1`,
        (inserted) => inserted.length > 0
      )

    const adopt = (invoice: string, variant: FileVariant, uploaded: Uploaded) =>
      Effect.gen(function* () {
        const tenant = yield* CurrentTenant
        const isAdopted = yield* blobs.adopt(uploaded, "document")
        const isInserted = yield* insert(tenant, invoice, variant, uploaded)
        if (!isInserted) yield* blobs.release(uploaded.digest)
        return isAdopted
      }).pipe(atomically(sql))

    return {
      find,

      /** Keeps a file that was drawn. The bytes are uploaded before the transaction begins. */
      keep: Effect.fnUntraced(function* (invoice: string, variant: FileVariant, pdf: Uint8Array) {
        const uploaded = yield* blobs.upload(piecesOf(pdf), pdf.length)
        const isAdopted = yield* Effect.onError(adopt(invoice, variant, uploaded), () =>
          Effect.ignoreLogged(blobs.discard(uploaded))
        )
        if (!isAdopted) yield* blobs.discard(uploaded)
        const kept = yield* find(invoice, variant)
        return kept ?? (yield* Effect.dieMessage(`The file of ${invoice} was not kept`))
      }),

      read: ({ digest }: InvoiceFile) =>
        Stream.unwrap(Effect.map(CurrentTenant, (tenant) => blobs.read(tenant, digest)))
    }
  })
}) {}
