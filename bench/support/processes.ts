import { Effect } from "effect"
import type { WorkerName } from "../../src/workers/registry.ts"
import { serviceProgram } from "../infrastructure.ts"
import { startProcess } from "../serverProcess.ts"
import { type BenchEnvironment, makeProcessEnv, profileOptions, startService } from "../servers.ts"

interface ProcessOptions {
  readonly workers: ReadonlyArray<WorkerName>
  readonly extraEnv: NodeJS.ProcessEnv
}

/** Starts the api and the workers, one process each. */
export const startProcesses = (
  environment: BenchEnvironment,
  profile: string | undefined,
  { workers, ...options }: ProcessOptions
) =>
  Effect.gen(function* () {
    const { extraEnv = {} } = options
    const env = { ...makeProcessEnv(environment), ...extraEnv }
    const api = yield* startService(environment, profile, "api", extraEnv)
    const workerProcesses = yield* Effect.forEach(workers, (name) =>
      startProcess({
        name,
        args: [...profileOptions(profile), serviceProgram, "worker", name],
        env,
        logFile: environment.infrastructure.logFileOf(name)
      })
    )
    return { api, processes: [api, ...workerProcesses] }
  })
