import { Cause, Console, Data, Deferred, Effect, Exit } from "effect"
import { startInfrastructure } from "../bench/infrastructure.ts"
import { describeHardware } from "../bench/report.ts"
import { startTokenIssuer } from "../bench/tokenIssuer.ts"
import { printLine, withProgress } from "../src/layers/local/ConsoleProgress.ts"
import { makeStopSignal } from "../src/layers/local/process/StopSignals.ts"
import { brokenBounds, mergeFigures, type Result } from "./bounds.ts"
import { measureRow } from "./measureRow.ts"
import { help, type Options, readOptions } from "./options.ts"
import { resultTable } from "./report.ts"
import { rows } from "./rows.ts"

class NeighboursFailed extends Data.TaggedError("NeighboursFailed")<{ readonly message: string }> {}

const chosenRows = ({ row }: Options) => {
  const chosen = rows.filter(({ name }) => name.toLowerCase().includes(row.toLowerCase()))
  return chosen.length > 0
    ? Effect.succeed(chosen)
    : Effect.fail(
        new NeighboursFailed({
          message: `No row holds "${row}". There are:\n${rows.map(({ name }) => `  ${name}`).join("\n")}`
        })
      )
}

const requireWithinBounds = (results: ReadonlyArray<Result>) => {
  const broken = results
    .map((result) => ({ name: result.name, bounds: brokenBounds(result) }))
    .filter(({ bounds }) => bounds.length > 0)
    .map(({ bounds, name }) => `${name}: ${bounds.join(", ")}`)
  return broken.length === 0
    ? Effect.void
    : Effect.fail(new NeighboursFailed({ message: `Broken:\n${broken.join("\n")}` }))
}

/** What the victim noticed while nobody attacked, over all rows. */
const mergeAlone = (alone: ReadonlyArray<Result>): Result => ({
  name: "nobody",
  figures: mergeFigures(alone.map(({ figures }) => figures)),
  apiMegabytes: Math.max(...alone.map(({ apiMegabytes }) => apiMegabytes ?? 0)),
  answers: new Map(),
  findings: []
})

const measureAll = (options: Options) =>
  Effect.gen(function* () {
    const chosen = yield* chosenRows(options)
    const stage = yield* withProgress(
      "Starting PostgreSQL and NATS",
      startInfrastructure,
      () => "PostgreSQL and NATS ready"
    )
    const { jwksUrl, signTokenFor: tokenFor } = yield* startTokenIssuer
    const callers = {
      attacker: yield* Effect.promise(() => tokenFor("attacker")),
      victim: yield* Effect.promise(() => tokenFor("victim"))
    }
    const measured = yield* Effect.forEach(chosen, (row, n) =>
      measureRow({ infrastructure: stage, jwksUrl }, callers, row, n, options)
    )
    const results = [
      mergeAlone(measured.flatMap(({ alone }) => (alone === undefined ? [] : [alone]))),
      ...measured.map(({ result }) => result)
    ]
    yield* printLine(
      `\n${describeHardware(stage.postgresDescription)}; victim, attacker, database and the service share the cores\n\n${resultTable(results)}\n`
    )
    yield* requireWithinBounds(results)
  }).pipe(Effect.scoped)

const orStopped = <E>(work: Effect.Effect<void, E>) =>
  Effect.gen(function* () {
    const asked = yield* makeStopSignal
    const stopped = Effect.zipRight(Deferred.await(asked), new NeighboursFailed({ message: "Stopped before the end" }))
    yield* Effect.raceFirst(work, stopped)
  })

const program = Effect.gen(function* () {
  const options = yield* Effect.try({
    try: () => readOptions(process.argv.slice(2)),
    catch: (cause) => new NeighboursFailed({ message: `${cause instanceof Error ? cause.message : cause}\n\n${help}` })
  })
  yield* options.help ? Console.log(help) : orStopped(measureAll(options))
})

const explain = (cause: Cause.Cause<Error>) => {
  const failure = Cause.squash(cause)
  return Console.error(Cause.isFailure(cause) && failure instanceof Error ? failure.message : Cause.pretty(cause))
}

const exit = await Effect.runPromiseExit(Effect.tapErrorCause(program, explain))
process.exitCode = Exit.isSuccess(exit) ? 0 : 1
