import { type ChildProcess, spawn } from "node:child_process"
import { Data, Effect } from "effect"
import { waitUntilApiReady } from "../tools/local/ApiReadiness.ts"
import { lastLines, openLog } from "../tools/local/process/LogFile.ts"
import {
  readCpuMillis,
  readFamilyCpuMillis,
  readPeakResidentMiB,
  readResidentMiB,
  resetPeakResident
} from "./processStats.ts"

export interface Program {
  readonly name: string
  readonly args: ReadonlyArray<string>
  readonly env: NodeJS.ProcessEnv
  readonly logFile: string
}

export interface ServerProgram extends Program {
  readonly baseUrl: string
  /** The first process of its database server. */
  readonly postmasterPid: number
}

export class ServerStopped extends Data.TaggedError("ServerStopped")<{
  readonly name: string
  readonly logFile: string
}> {
  override get message() {
    return `The ${this.name} server stopped before it was ready:\n${lastLines(this.logFile)}`
  }
}

const stopTimeoutMillis = 10_000

const stopProcess = (child: ChildProcess) =>
  Effect.async<void>((resume) => {
    if (child.exitCode !== null || child.signalCode !== null) return resume(Effect.void)
    const timer = setTimeout(() => child.kill("SIGKILL"), stopTimeoutMillis)
    child.once("exit", () => {
      clearTimeout(timer)
      resume(Effect.void)
    })
    child.kill("SIGTERM")
  })

const spawnProgram = ({ args, env, logFile }: Program) =>
  Effect.map(openLog(logFile), (log) =>
    // Detached, so that Ctrl-C in a terminal does not end it before us. The pipe closes when this process ends.
    spawn(process.execPath, args, { detached: true, stdio: ["pipe", log, log], env })
  ).pipe(Effect.scoped)

const failOnExit = (child: ChildProcess, { logFile, name }: ServerProgram) =>
  Effect.async<never, ServerStopped>((resume) => {
    child.once("exit", () => resume(Effect.fail(new ServerStopped({ name, logFile }))))
  })

const makeProcessStats = (child: ChildProcess, { name }: Program) => ({
  name,
  memoryMiB: () => readResidentMiB(child.pid),
  peakMemoryMiB: () => readPeakResidentMiB(child.pid),
  resetPeakMemory: () => resetPeakResident(child.pid),
  cpuMillis: () => readCpuMillis(child.pid)
})

/** Runs a program that is no server until the scope closes. */
export const startProcess = (program: Program) =>
  Effect.map(Effect.acquireRelease(spawnProgram(program), stopProcess), (child) => makeProcessStats(child, program))

export type RunningProcess = Effect.Effect.Success<ReturnType<typeof startProcess>>

/** Runs a server until the scope closes. */
export const startServer = (program: ServerProgram) =>
  Effect.gen(function* () {
    const child = yield* Effect.acquireRelease(spawnProgram(program), stopProcess)
    yield* Effect.raceFirst(waitUntilApiReady(program.baseUrl, program.logFile), failOnExit(child, program))
    return {
      ...makeProcessStats(child, program),
      baseUrl: program.baseUrl,
      databaseMillis: () => readFamilyCpuMillis(program.postmasterPid),
      lastLogLines: () => lastLines(program.logFile)
    }
  })

export type Server = Effect.Effect.Success<ReturnType<typeof startServer>>
