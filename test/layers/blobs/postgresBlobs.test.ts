import { Layer, ManagedRuntime } from "effect"
import { afterAll, beforeAll, describe } from "vitest"
import type { BlobStore } from "../../../src/layers/blobs/BlobStore.ts"
import { PostgresBlobs } from "../../../src/layers/blobs/PostgresBlobs.ts"
import { migrate } from "../../../src/layers/sql/Migrations.ts"
import { freshDatabase } from "../../support/database.ts"
import { liveOn } from "../../support/live.ts"
import { keepsItsContract } from "./storeContract.ts"

describe("a store in PostgreSQL", () => {
  let database: Awaited<ReturnType<typeof freshDatabase>>
  let runtime: ManagedRuntime.ManagedRuntime<BlobStore, unknown>
  beforeAll(async () => {
    database = await freshDatabase()
    const live = Layer.provideMerge(Layer.effectDiscard(migrate), liveOn(database.url))
    runtime = ManagedRuntime.make(Layer.provide(PostgresBlobs, live))
  })
  afterAll(async () => {
    await runtime.dispose()
    await database.drop()
  })

  keepsItsContract((work) => runtime.runPromise(work))
})
