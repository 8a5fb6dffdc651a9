import type { SqlClient } from "@effect/sql/SqlClient"
import { Effect, Layer } from "effect"
import type { Settings } from "../layers/infra/config/Settings.ts"
import { KeyCheckLive } from "../layers/infra/keys/KeyCheck.ts"
import { SqlLive } from "../layers/infra/postgres/connection/PostgresClient.ts"
import { MigrationsLive } from "../layers/infra/postgres/Migrations.ts"
import { TelemetryLive } from "../layers/infra/telemetry/Telemetry.ts"
import { exitWithParent } from "./ParentWatch.ts"

/** Runs until the process is asked to stop. The database layer is built first, so it closes last. */
export const serve = <A, E>(name: string, live: Layer.Layer<A, E, SqlClient | Settings>) =>
  Layer.launch(live.pipe(Layer.provide(KeyCheckLive), Layer.provide(MigrationsLive), Layer.provide(SqlLive))).pipe(
    Effect.provide(TelemetryLive(name)),
    (program) => Effect.zipRight(exitWithParent, program)
  )
