import { Effect } from "effect"

/**
 * Repeats the work for ever and survives its failures. Logs the first failure of an outage and the recovery, not every
 * retry.
 */
export const runForever = <A, E, R>(name: string, work: Effect.Effect<A, E, R>) => {
  let isDown = false
  const setDown = (down: boolean) =>
    Effect.sync(() => {
      isDown = down
    })
  return work.pipe(
    Effect.zipRight(Effect.suspend(() => (isDown ? Effect.logInfo(`${name} works again`) : Effect.void))),
    Effect.zipRight(setDown(false)),
    Effect.catchAllCause((cause) =>
      Effect.suspend(() => (isDown ? Effect.void : Effect.logWarning(`${name} failed; retrying`, cause))).pipe(
        Effect.zipRight(setDown(true)),
        Effect.zipRight(Effect.sleep("1 second"))
      )
    ),
    Effect.forever
  )
}
