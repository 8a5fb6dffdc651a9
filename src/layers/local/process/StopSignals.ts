import { Deferred, Effect } from "effect"

/**
 * Done when somebody asks this process to stop. The listeners stay for good: under npm a Ctrl-C arrives twice, and
 * without a listener the second one would end us before our children have ended.
 */
export const stopAsked = Effect.gen(function* () {
  const asked = yield* Deferred.make<void>()
  for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"]) {
    process.on(signal, () => Deferred.unsafeDone(asked, Effect.void))
  }
  // The terminal may be gone before us; what is said to nobody must not be an error.
  process.stdout.on("error", () => {})
  return asked
})
