import { parseArgs } from "node:util"
import { runMain } from "@effect/platform-node/NodeRuntime"
import type { SqlClient } from "@effect/sql/SqlClient"
import { Cause, Console, Effect, Layer, Option } from "effect"
import { help } from "./help.ts"
import { httpLive } from "./http/Http.ts"
import { MetricsLive } from "./http/Metrics.ts"
import { mounted } from "./http/Mount.ts"
import { developmentToken } from "./layers/auth/DevelopmentKey.ts"
import { Settings, SettingsError, SettingsLive } from "./layers/config/Settings.ts"
import { exitWithParent } from "./layers/local/process/Supervised.ts"
import { SqlLive } from "./layers/postgres/connection/Client.ts"
import { MigrationsLive, migrate } from "./layers/postgres/Migrations.ts"
import { TelemetryLive } from "./layers/telemetry/Telemetry.ts"
import { up } from "./up.ts"
import { isWorkerName, workerNames, workers } from "./workers/registry.ts"

const refuse = (fault: string) => Effect.fail(new SettingsError({ faults: [fault] }))

/** Serves until told to stop. The database is built first and so closes last, when nobody needs it any more. */
const serve = <A, E>(name: string, live: Layer.Layer<A, E, SqlClient | Settings>) =>
  Layer.launch(live.pipe(Layer.provide(MigrationsLive), Layer.provide(SqlLive))).pipe(
    Effect.annotateLogs("process", name),
    Effect.provide(TelemetryLive(name)),
    (serving) => Effect.zipRight(exitWithParent, serving)
  )

const worker = ([name = ""]: ReadonlyArray<string>) =>
  isWorkerName(name)
    ? serve(name, Layer.merge(workers[name], MetricsLive))
    : refuse(`"${name}" is no worker; there are: ${workerNames.join(", ")}`)

const migrateOnce = migrate.pipe(
  Effect.flatMap((applied) => Console.log(applied.length === 0 ? "Up to date." : `Applied ${applied.length}.`)),
  Effect.provide(TelemetryLive("migrate"))
)

const token = (args: ReadonlyArray<string>) =>
  Effect.gen(function* () {
    const { values } = parseArgs({
      args: [...args],
      options: { sub: { type: "string" }, "expires-in": { type: "string", default: "86400" } }
    })
    const seconds = Number(values["expires-in"])
    if (values.sub === undefined) return yield* refuse("--sub is needed: who the token speaks for")
    if (!Number.isInteger(seconds)) return yield* refuse("--expires-in takes a whole number of seconds")
    if ((yield* Settings).NODE_ENV === "production") return yield* refuse("development tokens are not for production")
    yield* Console.log(yield* developmentToken(values.sub, seconds))
  })

const run = (command: string | undefined, args: ReadonlyArray<string>) => {
  if (args.includes("--help")) return Console.log(help)
  switch (command) {
    case "up":
      return up
    case "api":
      return serve("api", httpLive(mounted))
    case "worker":
      return worker(args)
    case "migrate":
      return migrateOnce
    case "token":
      return token(args)
    case undefined:
    case "help":
    case "--help":
      return Console.log(help)
    default:
      return refuse(`"${command}" is no command; --help lists them`)
  }
}

/** A foreseen failure is told in its own words; anything else with all there is to know. */
const tell = (cause: Cause.Cause<unknown>) => {
  const failure = Option.getOrUndefined(Cause.failureOption(cause))
  if (Cause.isInterruptedOnly(cause)) return Effect.void
  return Console.error(failure instanceof Error ? failure.message : Cause.pretty(cause))
}

const [command, ...args] = process.argv.slice(2)

Effect.suspend(() => run(command, args)).pipe(
  Effect.provide(SettingsLive),
  Effect.tapErrorCause(tell),
  runMain({ disableErrorReporting: true, disablePrettyLogger: true })
)
