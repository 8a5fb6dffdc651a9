import { Effect, Layer, Logger } from "effect"
import { readSettings, Settings } from "../../../src/layers/infra/config/Settings.ts"
import { SqlLive } from "../../../src/layers/infra/postgres/connection/PostgresClient.ts"

/** Settings and a database for tests without HTTP. Discards logs. */
export const testLayers = (databaseUrl: string, environment: Readonly<Record<string, string>> = {}) =>
  SqlLive.pipe(
    Layer.provideMerge(
      Layer.effect(Settings, Effect.orDie(readSettings({ DATABASE_URL: databaseUrl, ...environment })))
    ),
    Layer.provideMerge(Layer.merge(Logger.remove(Logger.defaultLogger), Layer.setTracerEnabled(false)))
  )
