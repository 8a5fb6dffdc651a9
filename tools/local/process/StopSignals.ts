import { Deferred, Effect } from "effect"

/**
 * A deferred that completes on the first stop signal. The listeners stay installed: under npm a Ctrl-C arrives twice,
 * and without a listener the second one would end this process before its children.
 */
export const makeStopSignal = Effect.gen(function* () {
  const stopped = yield* Deferred.make<void>()
  for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"]) {
    process.on(signal, () => Deferred.unsafeDone(stopped, Effect.void))
  }
  // The terminal may close first; writing to it must not fail the process.
  process.stdout.on("error", () => {})
  return stopped
})
