import { Console, Effect } from "effect"
import { migrate } from "../layers/infra/postgres/Migrations.ts"
import { TelemetryLive } from "../layers/infra/telemetry/Telemetry.ts"

export const run = () =>
  migrate.pipe(
    Effect.flatMap((applied) => Console.log(applied.length === 0 ? "Up to date." : `Applied ${applied.length}.`)),
    Effect.provide(TelemetryLive("migrate"))
  )
