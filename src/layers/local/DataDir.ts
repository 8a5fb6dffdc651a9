import { mkdirSync } from "node:fs"
import { join, resolve } from "node:path"
import { Data, Effect, Schedule } from "effect"
import { type Lock, tryLock } from "../../../scripts/pidLock.mjs"
import { onDisk } from "./Disk.ts"

export class AlreadyRunning extends Data.TaggedError("AlreadyRunning")<{
  readonly folder: string
  readonly pid: number
}> {
  override get message() {
    return `Another instance (process ${this.pid}) works on ${this.folder}. Stop it, or start this one with other folders and ports: DATA_DIR=.data2 PORT=3001 npm start`
  }
}

const lock = (folder: string) =>
  onDisk(folder, () => {
    // Others may pass through, which the account that stands in for root needs, but not look around.
    mkdirSync(folder, { recursive: true, mode: 0o711 })
    return tryLock(join(folder, "lock"))
  }).pipe(
    Effect.filterOrFail(
      (lock): lock is Extract<Lock, { held: false }> => !lock.held,
      (lock) => new AlreadyRunning({ folder, pid: lock.held ? lock.pid : process.pid })
    ),
    // Two that start in the same instant may each step back for the other.
    Effect.retry({
      while: (error) => error._tag === "AlreadyRunning",
      schedule: Schedule.intersect(Schedule.jittered(Schedule.spaced("50 millis")), Schedule.recurs(8))
    })
  )

export interface DataDir {
  readonly folder: string
  /** The instance before was killed: its processes may still be on their way out. */
  readonly afterKill: boolean
  readonly logOf: (name: string) => string
}

/** Makes the folder and keeps other instances out of it until the scope closes. */
export const claimDataDir = (path: string) => {
  const folder = resolve(path)
  return Effect.acquireRelease(lock(folder), ({ release }) => Effect.sync(release)).pipe(
    Effect.map(
      ({ foundStale }): DataDir => ({
        folder,
        afterKill: foundStale,
        logOf: (name) => join(folder, "logs", `${name}.log`)
      })
    )
  )
}
