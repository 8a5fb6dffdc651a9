import { Data, Deferred, Duration, Effect, Ref } from "effect"
import { inSeconds, say } from "../Say.ts"
import { describe, type Program, run } from "./Child.ts"
import { lastLines } from "./LogFile.ts"

const firstPause = Duration.millis(200)
const longestPause = Duration.seconds(10)
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

/** Runs it again and again, after pauses that double and start over once it has stayed up for a while. */
export const keepRunning = <R>(name: string, running: Effect.Effect<string, never, R>) =>
  Effect.flatMap(Ref.make(firstPause), (nextPause) =>
    Effect.gen(function* () {
      const [lived, how] = yield* Effect.timed(running)
      const pause = Duration.greaterThanOrEqualTo(lived, healthyAfter) ? firstPause : yield* Ref.get(nextPause)
      yield* Ref.set(nextPause, Duration.min(Duration.times(pause, 2), longestPause))
      yield* say(`${name} stopped (${how}); starting again in ${inSeconds(Duration.toMillis(pause))}`)
      yield* Effect.sleep(pause)
    }).pipe(Effect.forever)
  )

interface Supervision<A, E, R, E2, R2> {
  readonly ready: Effect.Effect<A, E, R>
  /** Done before every start, also before a restart. */
  readonly before?: Effect.Effect<void, E2, R2>
}

/**
 * Starts the program, waits until it is ready, and keeps it running until the scope closes; then it is asked to end.
 * A program that ends before it was ever ready has a fault that starting again would not mend.
 */
export const supervise = <A, E, R, E2 extends Error = never, R2 = never>(
  program: Program,
  { before, ready }: Supervision<A, E, R, E2, R2>
) =>
  Effect.gen(function* () {
    const { logFile, name } = program
    const early = yield* Deferred.make<never, StoppedEarly>()
    const wasReady = yield* Ref.make(false)
    const giveUp = (how: string) =>
      Effect.zipRight(Deferred.fail(early, new StoppedEarly({ name, how, logFile })), Effect.never)
    const once = Effect.zipRight(before ?? Effect.void, run(program)).pipe(
      Effect.match({ onFailure: (error) => error.message, onSuccess: describe }),
      Effect.tap((how) => Effect.unlessEffect(giveUp(how), Ref.get(wasReady)))
    )
    yield* Effect.forkScoped(keepRunning(name, once))
    return yield* ready.pipe(
      Effect.raceFirst(Deferred.await(early)),
      Effect.tap(() => Ref.set(wasReady, true))
    )
  })
