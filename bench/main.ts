import { Cause, Console, Data, Deferred, Effect, Exit } from "effect"
import { printLine, withProgress } from "../src/layers/local/ConsoleProgress.ts"
import { makeStopSignal } from "../src/layers/local/process/StopSignals.ts"
import { measureAgainst } from "./against/measureAgainst.ts"
import { startIssuer } from "./caller.ts"
import { costTable } from "./costReport.ts"
import { measureDelivery } from "./delivery/measureDelivery.ts"
import { measureIntake } from "./intake/measureIntake.ts"
import { measure, type Result, serversOf } from "./measure.ts"
import { help, type Options, readOptions } from "./options.ts"
import { measureOverload } from "./overload/measureOverload.ts"
import { measureQueues } from "./queues/measureQueues.ts"
import { failed, machine, table } from "./report.ts"
import type { Row } from "./row.ts"
import { rows } from "./rows.ts"
import { requireSameAnswers } from "./sameAnswers.ts"
import { measureScale } from "./scale/measureScale.ts"
import { seed } from "./seed.ts"
import { startServers } from "./servers.ts"
import { setStage, setStageFor } from "./stage.ts"

class BenchFailed extends Data.TaggedError("BenchFailed")<{ readonly message: string }> {}

const chosen = ({ row }: Options) => {
  const named = rows.filter(({ name }) => name.toLowerCase().includes(row.toLowerCase()))
  return named.length > 0
    ? Effect.succeed(named)
    : Effect.fail(
        new BenchFailed({ message: `No row holds "${row}". There are: ${rows.map(({ name }) => name).join("; ")}` })
      )
}

/** Rows whose cost is told beside another's are measured in turns with it. */
const together = (wanted: ReadonlyArray<Row>) =>
  wanted
    .filter(({ beside }) => !wanted.some(({ name }) => name === beside))
    .map((row) => [row, ...wanted.filter(({ beside }) => beside === row.name)])

const settingStage = withProgress(
  "Starting PostgreSQL and NATS, migrating",
  setStage,
  () => "PostgreSQL and NATS ready"
)

/** Locks are as scarce as on a server with the usual settings. */
const settingSmallStage = withProgress(
  "Starting PostgreSQL with 100 connections and NATS, migrating",
  setStageFor({ maxConnections: 100 }),
  () => "PostgreSQL and NATS ready"
)

const requireSuccess = (results: ReadonlyArray<Result>) => {
  const faults = failed(results)
  return faults.length === 0 ? Effect.void : Effect.fail(new BenchFailed({ message: faults.join("\n") }))
}

const bench = (options: Options) =>
  Effect.gen(function* () {
    const wanted = yield* chosen(options)
    const stage = yield* settingStage
    yield* withProgress("Seeding", seed(stage.databaseUrl, wanted), () => "Database seeded")
    const { jwksUrl, token } = yield* startIssuer
    const servers = yield* withProgress(
      "Starting the servers",
      startServers({ stage, jwksUrl }, options.profile),
      (servers) => `Servers ready: ${servers.map(({ name }) => name).join(", ")}`
    )
    const comparing = Effect.forEach(wanted, (row) => requireSameAnswers(serversOf(row, servers), row, token))
    yield* withProgress("Comparing answers", comparing, () => "All answer alike")
    const all = yield* Effect.forEach(together(wanted), (group) =>
      measure(
        group.flatMap((row) => serversOf(row, servers).map((server) => ({ server, row }))),
        token,
        options
      )
    )
    const results = all.flat()
    yield* printLine(`\n${[machine(stage.postgres), table(results), ...costTable(results, wanted)].join("\n\n")}\n`)
    yield* requireSuccess(results)
  }).pipe(Effect.scoped)

const against = (folder: string, options: Options) =>
  Effect.gen(function* () {
    const rows = yield* chosen(options)
    const stage = yield* settingStage
    yield* withProgress("Seeding", seed(stage.databaseUrl, rows), () => "Database seeded")
    const { jwksUrl, token } = yield* startIssuer
    yield* measureAgainst({ stage, jwksUrl }, token, { folder, rows, starts: options.rounds })
  }).pipe(Effect.scoped)

const scale = (options: Options) =>
  Effect.gen(function* () {
    const stage = yield* settingStage
    const { jwksUrl, token } = yield* startIssuer
    const results = yield* measureScale({ stage, jwksUrl }, token, options)
    yield* requireSuccess(results)
  }).pipe(Effect.scoped)

const delivery = (options: Options) =>
  Effect.gen(function* () {
    const stage = yield* settingStage
    const { jwksUrl, token } = yield* startIssuer
    yield* measureDelivery({ stage, jwksUrl }, token, options)
  }).pipe(Effect.scoped)

const intake = (options: Options) =>
  Effect.gen(function* () {
    const stage = yield* settingStage
    const { jwksUrl, token } = yield* startIssuer
    const refused = yield* measureIntake({ stage, jwksUrl }, token, options)
    if (refused > 0) return yield* new BenchFailed({ message: `${refused} webhooks were not taken` })
  }).pipe(Effect.scoped)

const overload = (options: Options) =>
  Effect.gen(function* () {
    const stage = yield* settingStage
    const issuer = yield* startIssuer
    const broken = yield* measureOverload({ stage, jwksUrl: issuer.jwksUrl }, issuer.tokenFor, options)
    if (broken.length > 0) return yield* new BenchFailed({ message: broken.join("\n") })
  }).pipe(Effect.scoped)

const queues = (options: Options) =>
  Effect.gen(function* () {
    const stage = yield* settingSmallStage
    const { jwksUrl, token } = yield* startIssuer
    const broken = yield* measureQueues({ stage, jwksUrl }, token, options)
    if (broken.length > 0) return yield* new BenchFailed({ message: broken.join("\n") })
  }).pipe(Effect.scoped)

const modeOf = (options: Options) => {
  if (options.against !== undefined) return against(options.against, options)
  if (options.queues) return queues(options)
  if (options.overload) return overload(options)
  if (options.intake) return intake(options)
  if (options.delivery) return delivery(options)
  return options.scale ? scale(options) : bench(options)
}

const orStopped = <E>(work: Effect.Effect<void, E>) =>
  Effect.gen(function* () {
    const asked = yield* makeStopSignal
    const stopped = Effect.zipRight(Deferred.await(asked), new BenchFailed({ message: "Stopped before the end" }))
    yield* Effect.raceFirst(work, stopped)
  })

const program = Effect.gen(function* () {
  const options = yield* Effect.try({
    try: () => readOptions(process.argv.slice(2)),
    catch: (cause) => new BenchFailed({ message: `${cause instanceof Error ? cause.message : cause}\n\n${help}` })
  })
  yield* options.help ? Console.log(help) : orStopped(modeOf(options))
})

const tell = (cause: Cause.Cause<Error>) => {
  const failure = Cause.squash(cause)
  return Console.error(Cause.isFailure(cause) && failure instanceof Error ? failure.message : Cause.pretty(cause))
}

const exit = await Effect.runPromiseExit(Effect.tapErrorCause(program, tell))
process.exitCode = Exit.isSuccess(exit) ? 0 : 1
