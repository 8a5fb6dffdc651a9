import { mkdirSync } from "node:fs"
import { join, resolve } from "node:path"
import { Data, Effect, Schedule } from "effect"
import { type Lock, tryLock } from "../../scripts/pidLock.mjs"
import { tryFileAccess } from "./FileAccess.ts"

export class AlreadyRunning extends Data.TaggedError("AlreadyRunning")<{
  readonly folder: string
  readonly pid: number
}> {
  override get message() {
    return `Another instance (process ${this.pid}) uses ${this.folder}. Stop it, or start this one with other folders and ports: DATA_DIR=.data2 PORT=3001 npm start`
  }
}

const lock = (folder: string) =>
  tryFileAccess(folder, () => {
    // Mode 711: the unprivileged account of PostgreSQL must traverse the folder, but nobody else may list it.
    mkdirSync(folder, { recursive: true, mode: 0o711 })
    return tryLock(join(folder, "lock"))
  }).pipe(
    Effect.filterOrFail(
      (lock): lock is Extract<Lock, { held: false }> => !lock.held,
      (lock) => new AlreadyRunning({ folder, pid: lock.held ? lock.pid : process.pid })
    ),
    // Two instances that start at the same instant may both back off.
    Effect.retry({
      while: (error) => error._tag === "AlreadyRunning",
      schedule: Schedule.intersect(Schedule.jittered(Schedule.spaced("50 millis")), Schedule.recurs(8))
    })
  )

export interface DataDir {
  readonly folder: string
  /** The previous instance was killed. Its child processes may still be exiting. */
  readonly wasKilled: boolean
  readonly logFileOf: (name: string) => string
}

/** Creates the folder and locks it against other instances until the scope closes. */
export const lockDataDir = (path: string) => {
  const folder = resolve(path)
  return Effect.acquireRelease(lock(folder), ({ release }) => Effect.sync(release)).pipe(
    Effect.map(
      ({ foundStale }): DataDir => ({
        folder,
        wasKilled: foundStale,
        logFileOf: (name) => join(folder, "logs", `${name}.log`)
      })
    )
  )
}
