import { execFileSync } from "node:child_process"
import { readFileSync } from "node:fs"
import { Data, type Duration, Effect, Schedule } from "effect"

const fromProc = (pid: number) => readFileSync(`/proc/${pid}/cmdline`, "utf8").replaceAll("\0", " ")

const fromPs = (pid: number) => execFileSync("ps", ["-ww", "-o", "command=", "-p", String(pid)], { encoding: "utf8" })

/** The command line of a process; empty when it is gone or a zombie. */
export const commandLineOf = (pid: number) => {
  try {
    return (process.platform === "linux" ? fromProc(pid) : fromPs(pid)).trim()
  } catch {
    return ""
  }
}

export class OrphanStillRunning extends Data.TaggedError("OrphanStillRunning")<{
  readonly name: string
  readonly pid: number
}> {
  override get message() {
    return `A ${this.name} of an earlier run is still running and does not stop. Stop it (kill ${this.pid}) and start again.`
  }
}

interface Orphan {
  readonly name: string
  readonly pid: number
  /** Part of its command line that identifies it, since the system may have reused the pid. */
  readonly mark: string
  readonly stop: ReadonlyArray<readonly [NodeJS.Signals, Duration.DurationInput]>
}

const signal = (pid: number, name: NodeJS.Signals) => {
  try {
    process.kill(pid, name)
  } catch {
    // The process is gone already, or belongs to another user. The caller's wait tells which.
  }
}

const hasEndedWithin = (isOurs: () => boolean, timeout: Duration.DurationInput) =>
  Effect.sync(isOurs).pipe(
    Effect.repeat({ while: (isRunning) => isRunning, schedule: Schedule.spaced("50 millis") }),
    Effect.timeoutTo({ duration: timeout, onSuccess: () => true, onTimeout: () => false })
  )

/** Stops a server that outlived its parent process. Never signals another process. */
export const stopOrphan = ({ mark, name, pid, stop }: Orphan) =>
  Effect.gen(function* () {
    const isOurs = () => `${commandLineOf(pid)} `.includes(`${mark} `)
    for (const [signalName, timeout] of stop) {
      if (!isOurs()) return
      signal(pid, signalName)
      if (yield* hasEndedWithin(isOurs, timeout)) return
    }
    return yield* new OrphanStillRunning({ name, pid })
  })
