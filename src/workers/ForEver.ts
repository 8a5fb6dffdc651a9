import { Effect } from "effect"

/** Works on and on. What it works with may be away for a while: that is told once, and waited for. */
export const forEver = <A, E, R>(what: string, work: Effect.Effect<A, E, R>) => {
  let isDown = false
  const note = (down: boolean) =>
    Effect.sync(() => {
      isDown = down
    })
  return work.pipe(
    Effect.zipRight(Effect.suspend(() => (isDown ? Effect.logInfo(`${what} works again`) : Effect.void))),
    Effect.zipRight(note(false)),
    Effect.catchAllCause((cause) =>
      Effect.suspend(() => (isDown ? Effect.void : Effect.logWarning(`${what} failed; it is tried again`, cause))).pipe(
        Effect.zipRight(note(true)),
        Effect.zipRight(Effect.sleep("1 second"))
      )
    ),
    Effect.forever
  )
}
