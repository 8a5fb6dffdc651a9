import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { type Console, Effect, Schedule } from "effect"

/** A folder that only its owner may enter, removed with the scope. */
export const temporaryFolder = Effect.acquireRelease(
  Effect.sync(() => mkdtempSync(join(tmpdir(), "contracting-local-"))),
  (folder) => Effect.sync(() => rmSync(folder, { recursive: true, force: true }))
)

/** Polls until the timeout of the test. */
export const pollSchedule = Schedule.spaced("20 millis")

export const until = (condition: () => boolean) =>
  Effect.sync(condition).pipe(Effect.repeat({ until: (isTrue) => isTrue, schedule: pollSchedule }))

/** Collects the lines that `use` logs to the console. */
export const captureConsole = <A, E, R>(use: (lines: ReadonlyArray<string>) => Effect.Effect<A, E, R>) =>
  Effect.gen(function* () {
    const current = yield* Effect.console
    const lines: Array<string> = []
    const recording: Console.Console = {
      ...current,
      log: (...words) => Effect.sync(() => lines.push(words.join(" ")))
    }
    return yield* Effect.withConsole(use(lines), recording)
  })
