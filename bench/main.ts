import { Cause, Console, Data, Deferred, Effect, Exit } from "effect"
import { printLine, withProgress } from "../tools/local/ConsoleProgress.ts"
import { makeStopSignal } from "../tools/local/process/StopSignals.ts"
import { compareWithBaseline } from "./baseline/baselineComparison.ts"
import { budgetRequests, checkBudgets, describeBudgetFailure, isBudgeted } from "./budget/budgetBenchmark.ts"
import { formatCostTables } from "./costReport.ts"
import { measureDelivery } from "./delivery/deliveryBenchmark.ts"
import { startInfrastructure, startInfrastructureWith } from "./infrastructure.ts"
import { measureIntake } from "./intake/intakeBenchmark.ts"
import { measureCandidates, type RowResult, selectServers } from "./measurement.ts"
import { help, type Options, readOptions } from "./options.ts"
import { measureOverload } from "./overload/overloadBenchmark.ts"
import { measureQueues } from "./queues/queuesBenchmark.ts"
import { describeFailures, describeMachine, formatResultTable } from "./report.ts"
import { requireSameResponses } from "./responseComparison.ts"
import type { Row } from "./row.ts"
import { rows } from "./rows.ts"
import { measureScale } from "./scale/scaleBenchmark.ts"
import { seedDatabase } from "./seed.ts"
import { startServers } from "./servers.ts"
import { startTokenIssuer } from "./tokenIssuer.ts"

class BenchFailed extends Data.TaggedError("BenchFailed")<{ readonly message: string }> {}

const selectRows = ({ row }: Options) => {
  const matching = rows.filter(({ name }) => name.toLowerCase().includes(row.toLowerCase()))
  return matching.length > 0
    ? Effect.succeed(matching)
    : Effect.fail(
        new BenchFailed({
          message: `No row contains "${row}". The rows are: ${rows.map(({ name }) => name).join("; ")}`
        })
      )
}

/** A row alternates with the rows that use it as their baseline. */
const groupWithBaselines = (rows: ReadonlyArray<Row>) =>
  rows
    .filter(({ baselineRow }) => !rows.some(({ name }) => name === baselineRow))
    .map((row) => [row, ...rows.filter(({ baselineRow }) => baselineRow === row.name)])

const startDefaultInfrastructure = withProgress(
  "Starting PostgreSQL and NATS, migrating",
  startInfrastructure,
  () => "PostgreSQL and NATS ready"
)

/** The default of PostgreSQL, which also limits the number of locks. */
const startSmallInfrastructure = withProgress(
  "Starting PostgreSQL with 100 connections and NATS, migrating",
  startInfrastructureWith({ maxConnections: 100 }),
  () => "PostgreSQL and NATS ready"
)

const requireSuccess = (results: ReadonlyArray<RowResult>) => {
  const failures = describeFailures(results)
  return failures.length === 0 ? Effect.void : Effect.fail(new BenchFailed({ message: failures.join("\n") }))
}

const benchRows = (options: Options) =>
  Effect.gen(function* () {
    const rows = yield* selectRows(options)
    const infrastructure = yield* startDefaultInfrastructure
    yield* withProgress("Seeding", seedDatabase(infrastructure.databaseUrl, rows), () => "Database seeded")
    const { jwksUrl, tokenOf } = yield* startTokenIssuer
    const servers = yield* withProgress(
      "Starting the servers",
      startServers({ infrastructure, jwksUrl }, rows, options.profile),
      (servers) => `Servers ready: ${servers.map(({ name }) => name).join(", ")}`
    )
    const compareResponses = Effect.forEach(rows, (row) =>
      requireSameResponses(selectServers(row, servers), row, tokenOf)
    )
    yield* withProgress("Comparing responses", compareResponses, () => "All responses are the same")
    const groups = yield* Effect.forEach(groupWithBaselines(rows), (group) =>
      measureCandidates(
        group.flatMap((row) => selectServers(row, servers).map((server) => ({ server, row }))),
        tokenOf,
        options
      )
    )
    const results = groups.flat()
    yield* printLine(
      `\n${[describeMachine(infrastructure.postgresDescription), formatResultTable(results), ...formatCostTables(results, rows)].join("\n\n")}\n`
    )
    yield* requireSuccess(results)
  }).pipe(Effect.scoped)

const benchAgainstBaseline = (baselineFolder: string, options: Options) =>
  Effect.gen(function* () {
    const rows = yield* selectRows(options)
    const infrastructure = yield* startDefaultInfrastructure
    yield* withProgress("Seeding", seedDatabase(infrastructure.databaseUrl, rows), () => "Database seeded")
    const { jwksUrl, tokenOf } = yield* startTokenIssuer
    yield* compareWithBaseline({ infrastructure, jwksUrl }, tokenOf, { baselineFolder, rows, starts: options.rounds })
  }).pipe(Effect.scoped)

const checkBudget = (options: Options) =>
  Effect.gen(function* () {
    const rows = (yield* selectRows(options)).filter(isBudgeted)
    const infrastructure = yield* startDefaultInfrastructure
    const seeding = seedDatabase(infrastructure.databaseUrl, rows, budgetRequests)
    yield* withProgress("Seeding", seeding, () => "Database seeded")
    const { jwksUrl, tokenOf } = yield* startTokenIssuer
    const differences = yield* checkBudgets({ infrastructure, jwksUrl }, rows, tokenOf, options.because)
    if (differences.length > 0) return yield* new BenchFailed({ message: describeBudgetFailure(differences) })
  }).pipe(Effect.scoped)

const benchScale = (options: Options) =>
  Effect.gen(function* () {
    const infrastructure = yield* startDefaultInfrastructure
    const { jwksUrl, tokenOf } = yield* startTokenIssuer
    const results = yield* measureScale({ infrastructure, jwksUrl }, tokenOf, options)
    yield* requireSuccess(results)
  }).pipe(Effect.scoped)

const benchDelivery = (options: Options) =>
  Effect.gen(function* () {
    const infrastructure = yield* startDefaultInfrastructure
    const { jwksUrl, token } = yield* startTokenIssuer
    yield* measureDelivery({ infrastructure, jwksUrl }, token, options)
  }).pipe(Effect.scoped)

const benchIntake = (options: Options) =>
  Effect.gen(function* () {
    const infrastructure = yield* startDefaultInfrastructure
    const { jwksUrl, token } = yield* startTokenIssuer
    const failures = yield* measureIntake({ infrastructure, jwksUrl }, token, options)
    if (failures > 0) return yield* new BenchFailed({ message: `${failures} webhooks were not accepted` })
  }).pipe(Effect.scoped)

const benchOverload = (options: Options) =>
  Effect.gen(function* () {
    const infrastructure = yield* startDefaultInfrastructure
    const issuer = yield* startTokenIssuer
    const violations = yield* measureOverload({ infrastructure, jwksUrl: issuer.jwksUrl }, issuer.signTokenFor, options)
    if (violations.length > 0) return yield* new BenchFailed({ message: violations.join("\n") })
  }).pipe(Effect.scoped)

const benchQueues = (options: Options) =>
  Effect.gen(function* () {
    const infrastructure = yield* startSmallInfrastructure
    const { jwksUrl, token } = yield* startTokenIssuer
    const violations = yield* measureQueues({ infrastructure, jwksUrl }, token, options)
    if (violations.length > 0) return yield* new BenchFailed({ message: violations.join("\n") })
  }).pipe(Effect.scoped)

const selectBenchmark = (options: Options) => {
  if (options.budget) return checkBudget(options)
  if (options.against !== undefined) return benchAgainstBaseline(options.against, options)
  if (options.queues) return benchQueues(options)
  if (options.overload) return benchOverload(options)
  if (options.intake) return benchIntake(options)
  if (options.delivery) return benchDelivery(options)
  return options.scale ? benchScale(options) : benchRows(options)
}

const untilStopSignal = <E>(benchmark: Effect.Effect<void, E>) =>
  Effect.gen(function* () {
    const stopSignal = yield* makeStopSignal
    const stopped = Effect.zipRight(Deferred.await(stopSignal), new BenchFailed({ message: "Stopped before the end" }))
    yield* Effect.raceFirst(benchmark, stopped)
  })

const program = Effect.gen(function* () {
  const options = yield* Effect.try({
    try: () => readOptions(process.argv.slice(2)),
    catch: (cause) => new BenchFailed({ message: `${cause instanceof Error ? cause.message : cause}\n\n${help}` })
  })
  yield* options.help ? Console.log(help) : untilStopSignal(selectBenchmark(options))
})

const printFailure = (cause: Cause.Cause<Error>) => {
  const failure = Cause.squash(cause)
  return Console.error(Cause.isFailure(cause) && failure instanceof Error ? failure.message : Cause.pretty(cause))
}

const exit = await Effect.runPromiseExit(Effect.tapErrorCause(program, printFailure))
process.exitCode = Exit.isSuccess(exit) ? 0 : 1
