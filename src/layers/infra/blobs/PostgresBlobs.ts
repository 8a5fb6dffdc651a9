import * as SqlClient from "@effect/sql/SqlClient"
import { Duration, Effect, Layer, Option, Stream } from "effect"
import { makeFairSemaphore } from "../concurrency/FairSemaphore.ts"
import type { PermitRejection } from "../concurrency/KeyQueue.ts"
import { Settings } from "../config/Settings.ts"
import { type BlobLocation, BlobStore } from "./BlobStore.ts"
import { BlobStoreUnavailable } from "./BlobStoreUnavailable.ts"

/** A download outlives the admission of its request. Its statements get a share of the pool, limited per tenant. */
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

const toUnavailable = (rejection: PermitRejection) => new BlobStoreUnavailable({ cause: rejection })

/**
 * Stores blobs as rows of chunks. A short statement writes or reads each chunk. One database backup contains
 * everything.
 */
export const PostgresBlobs = Layer.effect(
  BlobStore,
  Effect.gen(function* () {
    const sql = yield* SqlClient.SqlClient
    const { DATABASE_POOL } = yield* Settings
    const readSemaphore = makeFairSemaphore(readLimits(DATABASE_POOL), toUnavailable)

    const insertChunk = ({ place, tenant }: BlobLocation, n: number, bytes: Uint8Array) =>
      Effect.orDie(sql`
        insert into blob_chunks (tenant_id, place, n, bytes) values (${tenant}, ${place}, ${n}, ${bytes})`)

    const selectChunk = ({ place, tenant }: BlobLocation, n: number) =>
      Effect.orDie(
        readSemaphore.withPermit(
          [tenant],
          sql<{ bytes: Uint8Array }>`
            select bytes from blob_chunks where tenant_id = ${tenant} and place = ${place} and n = ${n}`
        )
      )

    return BlobStore.of({
      put: (at, bytes) => Stream.runForEach(Stream.zipWithIndex(bytes), ([bytes, n]) => insertChunk(at, n, bytes)),

      read: (at) =>
        Stream.unfoldEffect(0, (n) =>
          Effect.map(selectChunk(at, n), ([row]) =>
            row === undefined ? Option.none() : Option.some([row.bytes, n + 1])
          )
        ),

      remove: ({ place, tenant }) =>
        Effect.orDie(sql`delete from blob_chunks where tenant_id = ${tenant} and place = ${place}`)
    })
  })
)
