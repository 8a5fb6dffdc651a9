import * as SqlClient from "@effect/sql/SqlClient"
import { Effect, Layer, Option, Stream } from "effect"
import { type BlobPlace, BlobStore } from "./BlobStore.ts"

/** Blobs as rows of chunks, each written and read by a short statement of its own: one backup holds everything. */
export const PostgresBlobs = Layer.effect(
  BlobStore,
  Effect.map(SqlClient.SqlClient, (sql) => {
    const append = ({ place, tenant }: BlobPlace, n: number, bytes: Uint8Array) =>
      Effect.orDie(sql`
        insert into blob_chunks (tenant_id, place, n, bytes) values (${tenant}, ${place}, ${n}, ${bytes})`)

    const chunk = ({ place, tenant }: BlobPlace, n: number) =>
      Effect.orDie(sql<{ bytes: Uint8Array }>`
        select bytes from blob_chunks where tenant_id = ${tenant} and place = ${place} and n = ${n}`)

    return BlobStore.of({
      put: (at, bytes) => Stream.runForEach(Stream.zipWithIndex(bytes), ([piece, n]) => append(at, n, piece)),

      read: (at) =>
        Stream.unfoldEffect(0, (n) =>
          Effect.map(chunk(at, n), ([row]) => (row === undefined ? Option.none() : Option.some([row.bytes, n + 1])))
        ),

      remove: ({ place, tenant }) =>
        Effect.orDie(sql`delete from blob_chunks where tenant_id = ${tenant} and place = ${place}`)
    })
  })
)
