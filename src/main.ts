import { parseArgs } from "node:util"
import { runMain } from "@effect/platform-node/NodeRuntime"
import type { SqlClient } from "@effect/sql/SqlClient"
import { Cause, Console, Effect, Layer, Option } from "effect"
import { help } from "./help.ts"
import { handlerGroups } from "./http/HandlerGroups.ts"
import { httpLive } from "./http/Http.ts"
import { baseUrlOf, requestSignInLink } from "./http/server/pages/ConsoleLink.ts"
import { withProbes } from "./http/WorkerProbes.ts"
import { acceptsDevelopmentTokens, signDevelopmentToken } from "./layers/auth/DevelopmentKey.ts"
import { Settings, SettingsError, SettingsLive } from "./layers/config/Settings.ts"
import { checkKeys, KeyCheckLive } from "./layers/keys/KeyCheck.ts"
import { reseal } from "./layers/keys/Reseal.ts"
import { exitWithParent } from "./layers/local/process/ParentWatch.ts"
import { SqlLive } from "./layers/postgres/connection/PostgresClient.ts"
import { MigrationsLive, migrate } from "./layers/postgres/Migrations.ts"
import { Secrets } from "./layers/secrets/Secrets.ts"
import { TelemetryLive } from "./layers/telemetry/Telemetry.ts"
import { up } from "./up.ts"
import { isWorkerName, workerNames, workers } from "./workers/registry.ts"

const failWith = (message: string) => Effect.fail(new SettingsError({ errors: [message] }))

/** Runs until the process is asked to stop. The database layer is built first, so it closes last. */
const serve = <A, E>(name: string, live: Layer.Layer<A, E, SqlClient | Settings>) =>
  Layer.launch(live.pipe(Layer.provide(KeyCheckLive), Layer.provide(MigrationsLive), Layer.provide(SqlLive))).pipe(
    Effect.provide(TelemetryLive(name)),
    (program) => Effect.zipRight(exitWithParent, program)
  )

/** Runs one worker, or several in one process. */
const runWorkers = ([first = "", ...others]: ReadonlyArray<string>) => {
  const unknown = [first, ...others].find((name) => !isWorkerName(name))
  if (unknown !== undefined || !isWorkerName(first))
    return failWith(`"${unknown}" is not a worker. The workers are: ${workerNames.join(", ")}`)
  const worker = others
    .filter(isWorkerName)
    .reduce(
      (merged: Layer.Layer<never, Error, SqlClient | Settings>, name) => Layer.merge(merged, workers[name]),
      workers[first]
    )
  return serve(others.length === 0 ? first : "workers", withProbes(worker))
}

const runMigrations = migrate.pipe(
  Effect.flatMap((applied) => Console.log(applied.length === 0 ? "Up to date." : `Applied ${applied.length}.`)),
  Effect.provide(TelemetryLive("migrate"))
)

const runReseal = Effect.gen(function* () {
  yield* checkKeys
  const { keyId, results } = yield* reseal
  for (const { moved, name } of results) yield* Console.log(`${name}: ${moved} encrypted again`)
  yield* Console.log(`Everything is encrypted with the key ${keyId}. Older keys can be removed from SECRETS_KEY.`)
}).pipe(Effect.provide(Layer.mergeAll(Secrets.Default, SqlLive, TelemetryLive("reseal"))))

const printToken = (args: ReadonlyArray<string>) =>
  Effect.gen(function* () {
    const { values } = parseArgs({
      args: [...args],
      options: { sub: { type: "string" }, "expires-in": { type: "string", default: "86400" } }
    })
    const seconds = Number(values["expires-in"])
    if (values.sub === undefined) return yield* failWith("--sub is required: the subject of the token")
    if (!Number.isInteger(seconds)) return yield* failWith("--expires-in must be a whole number of seconds")
    if ((yield* Settings).NODE_ENV === "production")
      return yield* failWith("development tokens cannot be issued in production")
    yield* Console.log(yield* signDevelopmentToken(values.sub, seconds))
  })

/** A new link into the console of the service that runs on this machine. */
const printConsoleLink = Effect.gen(function* () {
  const settings = yield* Settings
  if (!acceptsDevelopmentTokens(settings)) return yield* failWith("only development tokens can be had by a link")
  yield* Console.log(yield* requestSignInLink(baseUrlOf(settings)))
})

const run = (command: string | undefined, args: ReadonlyArray<string>) => {
  if (args.includes("--help")) return Console.log(help)
  switch (command) {
    case "up":
      return up({ watch: args.includes("--watch") })
    case "api":
      return serve("api", httpLive(handlerGroups))
    case "worker":
      return runWorkers(args)
    case "migrate":
      return runMigrations
    case "reseal":
      return runReseal
    case "token":
      return printToken(args)
    case "console":
      return printConsoleLink
    case undefined:
    case "help":
    case "--help":
      return Console.log(help)
    default:
      return failWith(`"${command}" is not a command. --help lists the commands`)
  }
}

/** Prints the message of an expected error, and the whole cause of anything else. */
const reportFailure = (cause: Cause.Cause<unknown>) => {
  const failure = Option.getOrUndefined(Cause.failureOption(cause))
  if (Cause.isInterruptedOnly(cause)) return Effect.void
  return Console.error(failure instanceof Error ? failure.message : Cause.pretty(cause))
}

const [command, ...args] = process.argv.slice(2)

Effect.suspend(() => run(command, args)).pipe(
  Effect.provide(SettingsLive),
  Effect.tapErrorCause(reportFailure),
  runMain({ disableErrorReporting: true, disablePrettyLogger: true })
)
