import { Cause, Console, Data, Deferred, Effect, Exit } from "effect"
import { printLine, withProgress } from "../../tools/local/ConsoleProgress.ts"
import { makeStopSignal } from "../../tools/local/process/StopSignals.ts"
import { startInfrastructure } from "../infrastructure.ts"
import { describeHardware } from "../report.ts"
import type { BenchEnvironment } from "../servers.ts"
import { startTokenIssuer } from "../tokenIssuer.ts"
import { findViolations, mergeMeasurements, type RowResult } from "./bounds.ts"
import { help, type Options, readOptions, selectByWords } from "./options.ts"
import { formatResultTable } from "./report.ts"
import { measureRow } from "./rowMeasurement.ts"
import { rows } from "./rows.ts"
import { formatWorst } from "./search/result.ts"
import { searchAll } from "./search/search.ts"

class NeighboursFailed extends Data.TaggedError("NeighboursFailed")<{ readonly message: string }> {}

const selectRows = (options: Options) => {
  const selected = selectByWords(rows, options)
  return selected.length > 0
    ? Effect.succeed(selected)
    : Effect.fail(
        new NeighboursFailed({
          message: `No row contains "${options.row}". The rows are:\n${rows.map(({ name }) => `  ${name}`).join("\n")}`
        })
      )
}

const requireWithinBounds = (results: ReadonlyArray<RowResult>) => {
  const violations = results
    .map((result) => ({ name: result.name, violations: findViolations(result) }))
    .filter(({ violations }) => violations.length > 0)
    .map(({ violations, name }) => `${name}: ${violations.join(", ")}`)
  return violations.length === 0
    ? Effect.void
    : Effect.fail(new NeighboursFailed({ message: `Violated bounds:\n${violations.join("\n")}` }))
}

/** The measurements without an attack, over all rows. */
const mergeBaselines = (baselines: ReadonlyArray<RowResult>): RowResult => ({
  name: "nobody",
  measurements: mergeMeasurements(baselines.map(({ measurements }) => measurements)),
  apiMegabytes: Math.max(...baselines.map(({ apiMegabytes }) => apiMegabytes ?? 0)),
  attackerResponses: new Map(),
  findings: []
})

const startAll = Effect.gen(function* () {
  const infrastructure = yield* withProgress(
    "Starting PostgreSQL and NATS",
    startInfrastructure,
    () => "PostgreSQL and NATS ready"
  )
  const { jwksUrl, signTokenFor } = yield* startTokenIssuer
  return { environment: { infrastructure, jwksUrl }, signTokenFor }
})

const printResults = ({ infrastructure }: BenchEnvironment, table: string) =>
  printLine(
    `\n${describeHardware(infrastructure.postgresDescription)}; victim, attacker, database and the service share the cores\n\n${table}\n`
  )

const measureRows = (options: Options) =>
  Effect.gen(function* () {
    const selected = yield* selectRows(options)
    const { environment, signTokenFor } = yield* startAll
    const measured = yield* Effect.forEach(selected, (row, n) => measureRow(environment, signTokenFor, row, n, options))
    const results = [
      mergeBaselines(measured.flatMap(({ baseline }) => (baseline === undefined ? [] : [baseline]))),
      ...measured.map(({ result }) => result)
    ]
    yield* printResults(environment, formatResultTable(results))
    yield* requireWithinBounds(results)
  }).pipe(Effect.scoped)

const searchOperations = (options: Options) =>
  Effect.gen(function* () {
    const { environment, signTokenFor } = yield* startAll
    const { quiet, rest, results } = yield* searchAll(environment, signTokenFor, options)
    yield* printResults(environment, formatWorst(quiet, results))
    yield* requireWithinBounds([...results, rest])
  }).pipe(Effect.scoped)

const untilStopSignal = <E>(benchmark: Effect.Effect<void, E>) =>
  Effect.gen(function* () {
    const stopSignal = yield* makeStopSignal
    const stopped = Effect.zipRight(
      Deferred.await(stopSignal),
      new NeighboursFailed({ message: "Stopped before the end" })
    )
    yield* Effect.raceFirst(benchmark, stopped)
  })

const program = Effect.gen(function* () {
  const options = yield* Effect.try({
    try: () => readOptions(process.argv.slice(2)),
    catch: (cause) => new NeighboursFailed({ message: `${cause instanceof Error ? cause.message : cause}\n\n${help}` })
  })
  yield* options.help
    ? Console.log(help)
    : untilStopSignal(options.search ? searchOperations(options) : measureRows(options))
})

const printFailure = (cause: Cause.Cause<Error>) => {
  const failure = Cause.squash(cause)
  return Console.error(Cause.isFailure(cause) && failure instanceof Error ? failure.message : Cause.pretty(cause))
}

const exit = await Effect.runPromiseExit(Effect.tapErrorCause(program, printFailure))
process.exitCode = Exit.isSuccess(exit) ? 0 : 1
