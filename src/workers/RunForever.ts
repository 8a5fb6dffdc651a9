import { type Duration, Effect, Option } from "effect"
import { Loops } from "../layers/infra/telemetry/Loops.ts"

interface LoopOptions {
  /** The longest time that a round may take. After it, the health check of the worker fails. */
  readonly stalledAfter?: Duration.DurationInput
}

/** Statements end by their timeout after seconds, and a round has a few of them. */
const defaultStalledAfter = "2 minutes"

/**
 * Repeats the work for ever and survives its failures. Logs the first failure of an outage and the recovery, not every
 * retry.
 */
export const runForever = <A, E, R>(
  name: string,
  work: Effect.Effect<A, E, R>,
  { stalledAfter = defaultStalledAfter }: LoopOptions = {}
) =>
  Effect.flatMap(Effect.serviceOption(Loops), (loops) => {
    const progress = Option.getOrUndefined(loops)?.add(name, stalledAfter)
    let isDown = false
    const endRound = (down: boolean) =>
      Effect.sync(() => {
        isDown = down
        progress?.endRound(down)
      })
    return work.pipe(
      Effect.zipRight(Effect.suspend(() => (isDown ? Effect.logInfo(`${name} works again`) : Effect.void))),
      Effect.zipRight(endRound(false)),
      Effect.catchAllCause((cause) =>
        Effect.suspend(() => (isDown ? Effect.void : Effect.logWarning(`${name} failed; retrying`, cause))).pipe(
          Effect.zipRight(endRound(true)),
          Effect.zipRight(Effect.sleep("1 second"))
        )
      ),
      Effect.forever
    )
  })
