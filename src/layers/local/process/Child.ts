import { spawn } from "node:child_process"
import { Data, Duration, Effect } from "effect"
import { reasonOf } from "../Disk.ts"
import { openLog } from "./LogFile.ts"

/** What to run, where its output goes, and how it is asked to end: each signal gets its time, then SIGKILL. */
export interface Program {
  readonly name: string
  readonly command: string
  readonly args: ReadonlyArray<string>
  readonly env: NodeJS.ProcessEnv
  readonly logFile: string
  readonly stop: ReadonlyArray<readonly [NodeJS.Signals, Duration.DurationInput]>
  /** Only root can hand a process to another account. */
  readonly account?: { readonly uid: number; readonly gid: number } | undefined
}

export interface Ended {
  readonly code: number | null
  readonly signal: NodeJS.Signals | null
}

export const describe = ({ code, signal }: Ended) => (signal === null ? `exit code ${code}` : `signal ${signal}`)

export class CannotStart extends Data.TaggedError("CannotStart")<{
  readonly command: string
  readonly reason: string
}> {
  override get message() {
    return `${this.command} could not be started: ${this.reason}`
  }
}

interface Child {
  readonly ended: Promise<Ended>
  readonly signal: (signal: NodeJS.Signals) => void
}

const launch = ({ account, args, command, env }: Program, log: number) =>
  Effect.async<Child, CannotStart>((resume) => {
    const child = spawn(command, args, {
      // A terminal's Ctrl-C reaches every process of its session; these end in their order, when we say so.
      detached: true,
      // The pipe's other end closes with us, however we end: see `supervised.ts`.
      stdio: ["pipe", log, log],
      env,
      ...account
    })
    const ended = new Promise<Ended>((resolve) => child.once("exit", (code, signal) => resolve({ code, signal })))
    child.stdin?.on("error", () => {})
    child.once("error", (cause) => resume(Effect.fail(new CannotStart({ command, reason: reasonOf(cause) }))))
    child.once("spawn", () => resume(Effect.succeed({ ended, signal: (signal) => child.kill(signal) })))
  })

/** Plain timers: `Effect.timeout` cannot give up on an effect inside a finalizer, which nothing may interrupt. */
const endsWithin = (child: Child, limit: Duration.DurationInput) =>
  Effect.async<boolean>((resume) => {
    const timer = setTimeout(() => resume(Effect.succeed(false)), Duration.toMillis(limit))
    void child.ended.then(() => {
      clearTimeout(timer)
      resume(Effect.succeed(true))
    })
  })

const end = (child: Child, stop: Program["stop"]) =>
  Effect.gen(function* () {
    for (const [signal, limit] of stop) {
      child.signal(signal)
      if (yield* endsWithin(child, limit)) return
    }
    child.signal("SIGKILL")
    yield* Effect.promise(() => child.ended)
  })

/** Runs the program until it ends; interrupted, asks it to end and waits until it has. */
export const run = (program: Program) =>
  Effect.acquireUseRelease(
    Effect.scoped(Effect.flatMap(openLog(program.logFile), (log) => launch(program, log))),
    (child) => Effect.promise(() => child.ended),
    (child) => end(child, program.stop)
  )
