import { randomBytes } from "node:crypto"
import { Effect } from "effect"
import type { WorkerName } from "../../src/workers/registry.ts"
import { startProcess } from "../serverProcess.ts"
import { environmentOf, profiling, type Setting, startService } from "../servers.ts"
import { service } from "../stage.ts"

interface Wanted {
  readonly workers: ReadonlyArray<WorkerName>
  readonly extra: NodeJS.ProcessEnv
}

/** The api and the workers, one process each. */
export const startPrograms = (setting: Setting, profile: string | undefined, { workers, ...wanted }: Wanted) =>
  Effect.gen(function* () {
    const extra = { SECRETS_KEY: randomBytes(32).toString("base64"), ...wanted.extra }
    const env = { ...environmentOf(setting), ...extra }
    const api = yield* startService(setting, profile, "api", extra)
    const others = yield* Effect.forEach(workers, (name) =>
      startProcess({
        name,
        args: [...profiling(profile), service, "worker", name],
        env,
        logFile: setting.stage.logOf(name)
      })
    )
    return { api, running: [api, ...others] }
  })
