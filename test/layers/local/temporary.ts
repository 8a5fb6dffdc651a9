import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { type Console, Effect, Schedule } from "effect"

/** A folder for one test; only its owner may enter it. */
export const temporaryFolder = Effect.acquireRelease(
  Effect.sync(() => mkdtempSync(join(tmpdir(), "contracting-local-"))),
  (folder) => Effect.sync(() => rmSync(folder, { recursive: true, force: true }))
)

/** Again and again; the test's own time limit is the only one. */
export const patiently = Schedule.spaced("20 millis")

export const until = (isSo: () => boolean) =>
  Effect.sync(isSo).pipe(Effect.repeat({ until: (so) => so, schedule: patiently }))

/** Runs it with a console that only remembers. */
export const listening = <A, E, R>(use: (lines: ReadonlyArray<string>) => Effect.Effect<A, E, R>) =>
  Effect.gen(function* () {
    const current = yield* Effect.console
    const lines: Array<string> = []
    const recording: Console.Console = {
      ...current,
      log: (...words) => Effect.sync(() => lines.push(words.join(" ")))
    }
    return yield* Effect.withConsole(use(lines), recording)
  })
