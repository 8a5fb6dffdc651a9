import { randomBytes } from "node:crypto"
import { SqlClient } from "@effect/sql/SqlClient"
import { Chunk, Effect, Layer, ManagedRuntime, Stream } from "effect"
import { assert, describe, it, onTestFinished } from "vitest"
import { type BlobLocation, BlobStore } from "../../../../src/layers/infra/blobs/BlobStore.ts"
import { PostgresBlobs } from "../../../../src/layers/infra/blobs/PostgresBlobs.ts"
import { migrate } from "../../../../src/layers/infra/postgres/Migrations.ts"
import { makeReadGate } from "../../../support/fixtures/tableGate.ts"
import { useFixture } from "../../../support/fixtures/useFixture.ts"
import { freshDatabase, openPool } from "../../../support/servers/database.ts"
import { testLayers } from "../../../support/servers/layers.ts"
import { inPieces, newLocation, testBlobStore } from "./blobStoreTests.ts"

const startStore = async (environment: Readonly<Record<string, string>> = {}) => {
  const database = await freshDatabase()
  const live = Layer.provideMerge(Layer.effectDiscard(migrate), testLayers(database.url, environment))
  const runtime = ManagedRuntime.make(Layer.provideMerge(PostgresBlobs, live))
  const pool = openPool(database.url)
  const stop = async () => {
    await runtime.dispose()
    await pool.end()
    await database.drop()
  }
  return { runtime, pool, stop }
}

describe("PostgresBlobs", () => {
  const at = useFixture(startStore)

  testBlobStore((work) => at().runtime.runPromise(work))
})

describe("PostgresBlobs with four connections", () => {
  const at = useFixture(() => startStore({ DATABASE_POOL: "4" }))

  const read = (place: BlobLocation) =>
    Effect.flatMap(BlobStore, (store) => Stream.runCollect(store.read(place))).pipe(
      Effect.map((pieces) => Buffer.concat(Chunk.toReadonlyArray(pieces)))
    )

  it("reads with one per tenant and two in total, and leaves the others to other statements", async () => {
    const { pool, runtime } = at()
    const [mine, other] = [newLocation("tnt_many"), newLocation("tnt_few")]
    const bytes = randomBytes(300_000)
    for (const place of [mine, other])
      await runtime.runPromise(Effect.flatMap(BlobStore, (store) => store.put(place, inPieces(bytes), bytes.length)))
    const queryTwice = () =>
      runtime.runPromise(
        Effect.all(
          [1, 2].map(() => Effect.flatMap(SqlClient, (sql) => sql`select 1`)),
          { concurrency: 2 }
        )
      )
    const gate = await makeReadGate(pool, "blob_chunks")
    onTestFinished(gate.open)
    await gate.close()
    const many = Array.from({ length: 10 }, () => runtime.runPromise(read(mine)))
    await gate.untilWaiting(1)
    await queryTwice()
    assert.strictEqual(await gate.waiting(), 1)
    const few = runtime.runPromise(read(other))
    await gate.untilWaiting(2)
    await queryTwice()
    assert.strictEqual(await gate.waiting(), 2)
    await gate.open()
    for (const downloaded of await Promise.all([...many, few])) assert.isTrue(downloaded.equals(bytes))
  })
})
