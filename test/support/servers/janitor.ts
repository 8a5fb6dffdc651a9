import { Effect, Layer } from "effect"
import { PostgresBlobs } from "../../../src/layers/infra/blobs/PostgresBlobs.ts"
import { JanitorDependencies, runCleanupRound } from "../../../src/workers/janitor/Janitor.ts"
import { testLayers } from "./layers.ts"
import type { Service } from "./service.ts"

/** Runs one cleanup round on the database of a service with these settings. */
export const runJanitorOnce = (
  { dataDir, database }: Pick<Service, "dataDir" | "database">,
  environment: Readonly<Record<string, string>> = {}
) =>
  Effect.runPromise(
    Effect.provide(
      runCleanupRound,
      Layer.provideMerge(
        JanitorDependencies.pipe(Layer.provide(PostgresBlobs)),
        testLayers(database.url, { DATA_DIR: dataDir, ...environment })
      )
    )
  )
