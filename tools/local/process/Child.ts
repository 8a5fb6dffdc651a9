import { spawn } from "node:child_process"
import { Data, Duration, Effect } from "effect"
import { reasonOf } from "../FileAccess.ts"
import { openLog } from "./LogFile.ts"

/** A program to run. `stop` lists the signals with their timeouts; after the last one follows SIGKILL. */
export interface Program {
  readonly name: string
  readonly command: string
  readonly args: ReadonlyArray<string>
  readonly env: NodeJS.ProcessEnv
  readonly logFile: string
  readonly stop: ReadonlyArray<readonly [NodeJS.Signals, Duration.DurationInput]>
  /** Runs the program as another user, which requires root. */
  readonly account?: { readonly uid: number; readonly gid: number } | undefined
}

export interface ExitStatus {
  readonly code: number | null
  readonly signal: NodeJS.Signals | null
}

export const describeExit = ({ code, signal }: ExitStatus) =>
  signal === null ? `exit code ${code}` : `signal ${signal}`

export class CannotStart extends Data.TaggedError("CannotStart")<{
  readonly command: string
  readonly reason: string
}> {
  override get message() {
    return `${this.command} could not be started: ${this.reason}`
  }
}

export interface Child {
  readonly ended: Promise<ExitStatus>
  readonly signal: (signal: NodeJS.Signals) => void
}

const launch = ({ account, args, command, env }: Program, log: number) =>
  Effect.async<Child, CannotStart>((resume) => {
    const child = spawn(command, args, {
      // Ctrl-C signals the whole process group of the terminal. A detached child is stopped by us, in order.
      detached: true,
      // The pipe closes when this process ends, even by SIGKILL: see `exitWithParent`.
      stdio: ["pipe", log, log],
      env,
      ...account
    })
    const ended = new Promise<ExitStatus>((resolve) => child.once("exit", (code, signal) => resolve({ code, signal })))
    child.stdin?.on("error", () => {})
    child.once("error", (cause) => resume(Effect.fail(new CannotStart({ command, reason: reasonOf(cause) }))))
    child.once("spawn", () => resume(Effect.succeed({ ended, signal: (signal) => child.kill(signal) })))
  })

export const startProgram = (program: Program) =>
  Effect.scoped(Effect.flatMap(openLog(program.logFile), (log) => launch(program, log)))

/** A plain timer: in a finalizer, which is uninterruptible, `Effect.timeout` would wait for the effect. */
const endsWithin = (child: Child, timeout: Duration.DurationInput) =>
  Effect.async<boolean>((resume) => {
    const timer = setTimeout(() => resume(Effect.succeed(false)), Duration.toMillis(timeout))
    void child.ended.then(() => {
      clearTimeout(timer)
      resume(Effect.succeed(true))
    })
  })

export const stopChild = (child: Child, stop: Program["stop"]) =>
  Effect.gen(function* () {
    for (const [signal, timeout] of stop) {
      child.signal(signal)
      if (yield* endsWithin(child, timeout)) return
    }
    child.signal("SIGKILL")
    yield* Effect.promise(() => child.ended)
  })

/** Runs the program until it ends. On interruption it stops the program and waits for its end. */
export const runProgram = (program: Program) =>
  Effect.acquireUseRelease(
    startProgram(program),
    (child) => Effect.promise(() => child.ended),
    (child) => stopChild(child, program.stop)
  )
