import { randomBytes } from "node:crypto"
import { Effect } from "effect"
import { startProcess } from "../serverProcess.ts"
import { environmentOf, profiling, type Setting, startService } from "../servers.ts"
import { service } from "../stage.ts"

const workers = ["relay", "delivery"] as const

/** The api and the two workers an event passes through, one process each. */
export const startPrograms = (setting: Setting, profile: string | undefined) =>
  Effect.gen(function* () {
    const extra = { SECRETS_KEY: randomBytes(32).toString("base64"), DELIVERY_ALLOW: "127.0.0.0/8" }
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
