import { execFileSync } from "node:child_process"
import { readFileSync } from "node:fs"
import { Data, type Duration, Effect, Schedule } from "effect"

const fromProc = (pid: number) => readFileSync(`/proc/${pid}/cmdline`, "utf8").replaceAll("\0", " ")

const fromPs = (pid: number) => execFileSync("ps", ["-ww", "-o", "command=", "-p", String(pid)], { encoding: "utf8" })

/** The words a process was started with; empty when it is gone, or only waits to be reaped. */
export const commandLine = (pid: number) => {
  try {
    return (process.platform === "linux" ? fromProc(pid) : fromPs(pid)).trim()
  } catch {
    return ""
  }
}

export class OrphanStays extends Data.TaggedError("OrphanStays")<{ readonly name: string; readonly pid: number }> {
  override get message() {
    return `A ${this.name} of an earlier run still works here and does not end. End it (kill ${this.pid}) and start again.`
  }
}

interface Orphan {
  readonly name: string
  readonly pid: number
  /** Words of its command line by which it is known: by now the pid may be anybody's. */
  readonly mark: string
  readonly stop: ReadonlyArray<readonly [NodeJS.Signals, Duration.DurationInput]>
}

const signal = (pid: number, name: NodeJS.Signals) => {
  try {
    process.kill(pid, name)
  } catch {
    // Gone in this very moment, or not ours to end: whoever waits for it sees which.
  }
}

const gone = (isOurs: () => boolean, limit: Duration.DurationInput) =>
  Effect.sync(isOurs).pipe(
    Effect.repeat({ while: (there) => there, schedule: Schedule.spaced("50 millis") }),
    Effect.timeoutTo({ duration: limit, onSuccess: () => true, onTimeout: () => false })
  )

/** Ends a server that outlived the process which started it. Any other process is left alone. */
export const endOrphan = ({ mark, name, pid, stop }: Orphan) =>
  Effect.gen(function* () {
    const isOurs = () => `${commandLine(pid)} `.includes(`${mark} `)
    for (const [signalName, limit] of stop) {
      if (!isOurs()) return
      signal(pid, signalName)
      if (yield* gone(isOurs, limit)) return
    }
    return yield* new OrphanStays({ name, pid })
  })
