import * as SqlClient from "@effect/sql/SqlClient"
import { Duration, Effect, Layer, Option, Stream } from "effect"
import { makeFairSemaphore, type Refused } from "../concurrency/FairSemaphore.ts"
import { Settings } from "../config/Settings.ts"
import { type BlobPlace, BlobStore } from "./BlobStore.ts"
import { StoreUnavailable } from "./StoreUnavailable.ts"

/** Downloads go on after their request was admitted, so their statements share a part of the pool by tenant. */
const readLimits = (connections: number) => {
  const permits = Math.max(1, Math.floor(connections * 0.5))
  return {
    permits,
    maxPerKey: Math.max(1, Math.floor(permits * 0.6)),
    maxQueuedPerKey: 1024,
    maxQueued: 4096,
    timeout: Duration.seconds(30)
  }
}

const neverRead = (refused: Refused) => new StoreUnavailable({ cause: refused })

/** Blobs as rows of chunks, each written and read by a short statement of its own: one backup holds everything. */
export const PostgresBlobs = Layer.effect(
  BlobStore,
  Effect.gen(function* () {
    const sql = yield* SqlClient.SqlClient
    const { DATABASE_POOL } = yield* Settings
    const reads = makeFairSemaphore(readLimits(DATABASE_POOL), neverRead)

    const append = ({ place, tenant }: BlobPlace, n: number, bytes: Uint8Array) =>
      Effect.orDie(sql`
        insert into blob_chunks (tenant_id, place, n, bytes) values (${tenant}, ${place}, ${n}, ${bytes})`)

    const chunk = ({ place, tenant }: BlobPlace, n: number) =>
      Effect.orDie(
        reads.withPermit(
          [tenant],
          sql<{ bytes: Uint8Array }>`
            select bytes from blob_chunks where tenant_id = ${tenant} and place = ${place} and n = ${n}`
        )
      )

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
