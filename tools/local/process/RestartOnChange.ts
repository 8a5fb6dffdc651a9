import { type StatsListener, unwatchFile, watchFile } from "node:fs"
import { Effect, Queue, type Scope } from "effect"
import { printLine } from "../ConsoleProgress.ts"

const pollMs = 25

/** One element for all changes of a file that nobody has taken yet. Polls, because a build replaces the file. */
const watchChanges = (file: string) =>
  Effect.gen(function* () {
    const changes = yield* Queue.sliding<void>(1)
    const listener: StatsListener = (current, previous) => {
      if (current.mtimeMs !== previous.mtimeMs) Queue.unsafeOffer(changes, undefined)
    }
    yield* Effect.acquireRelease(
      Effect.sync(() => watchFile(file, { interval: pollMs }, listener)),
      () => Effect.sync(() => unwatchFile(file, listener))
    )
    return changes
  })

/**
 * Starts the services, and after every change of the file stops them and starts them again, for ever. A change also ends
 * a start that hangs. After a failed start the next change tries again.
 */
export const restartOnChange = <E extends Error, R>(file: string, services: Effect.Effect<void, E, R | Scope.Scope>) =>
  Effect.flatMap(watchChanges(file), (changes) =>
    services.pipe(
      Effect.catchAll(({ message }) => printLine(message)),
      Effect.zipRight(Effect.never),
      Effect.raceFirst(Effect.zipRight(Queue.take(changes), printLine("The program has changed: restarting"))),
      Effect.scoped,
      Effect.forever
    )
  )
