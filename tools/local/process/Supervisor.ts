import { Data, Deferred, Duration, Effect, Ref } from "effect"
import { formatSeconds, printLine } from "../ConsoleProgress.ts"
import { describeExit, type Program, runProgram } from "./Child.ts"
import { lastLines } from "./LogFile.ts"

const initialBackoff = Duration.millis(200)
const maxBackoff = Duration.seconds(10)
const healthyAfter = Duration.seconds(30)

export class StoppedEarly extends Data.TaggedError("StoppedEarly")<{
  readonly name: string
  readonly how: string
  readonly logFile: string
}> {
  override get message() {
    const tail = lastLines(this.logFile)
    return `${this.name} stopped (${this.how}) before it was ready. The end of ${this.logFile}:\n${tail}`
  }
}

/** Restarts a program for ever, with exponential backoff. A run of `healthyAfter` resets the backoff. */
export const runWithRestarts = <R>(name: string, running: Effect.Effect<string, never, R>) =>
  Effect.flatMap(Ref.make(initialBackoff), (nextBackoff) =>
    Effect.gen(function* () {
      const [uptime, how] = yield* Effect.timed(running)
      const backoff = Duration.greaterThanOrEqualTo(uptime, healthyAfter) ? initialBackoff : yield* Ref.get(nextBackoff)
      yield* Ref.set(nextBackoff, Duration.min(Duration.times(backoff, 2), maxBackoff))
      yield* printLine(`${name} stopped (${how}); starting again in ${formatSeconds(Duration.toMillis(backoff))}`)
      yield* Effect.sleep(backoff)
    }).pipe(Effect.forever)
  )

interface Supervision<A, E, R, E2, R2> {
  readonly ready: Effect.Effect<A, E, R>
  /** Runs before every start and restart. */
  readonly before?: Effect.Effect<void, E2, R2>
}

/**
 * Starts the program, waits until it is ready, and restarts it until the scope closes; then stops it. A program that
 * ends before it was ever ready is not restarted: a restart would fail the same way.
 */
export const supervise = <A, E, R, E2 extends Error = never, R2 = never>(
  program: Program,
  { before, ready }: Supervision<A, E, R, E2, R2>
) =>
  Effect.gen(function* () {
    const { logFile, name } = program
    const stoppedEarly = yield* Deferred.make<never, StoppedEarly>()
    const wasReady = yield* Ref.make(false)
    const failStart = (how: string) =>
      Effect.zipRight(Deferred.fail(stoppedEarly, new StoppedEarly({ name, how, logFile })), Effect.never)
    const runOnce = Effect.zipRight(before ?? Effect.void, runProgram(program)).pipe(
      Effect.match({ onFailure: (error) => error.message, onSuccess: describeExit }),
      Effect.tap((how) => Effect.unlessEffect(failStart(how), Ref.get(wasReady)))
    )
    yield* Effect.forkScoped(runWithRestarts(name, runOnce))
    return yield* ready.pipe(
      Effect.raceFirst(Deferred.await(stoppedEarly)),
      Effect.tap(() => Ref.set(wasReady, true))
    )
  })
