import { setTimeout as pause } from "node:timers/promises"
import { Effect, Exit, Layer, Scope } from "effect"
import { withProbes } from "../../../src/http/WorkerProbes.ts"
import { Settings } from "../../../src/layers/infra/config/Settings.ts"
import { SqlLive } from "../../../src/layers/infra/postgres/connection/PostgresClient.ts"
import { type WorkerName, workerLive } from "../../../src/workers/registry.ts"
import { captureLogs } from "./logCapture.ts"
import { defaultWaitSeconds } from "./natsCluster.ts"
import type { Service } from "./service.ts"

/** Starts a worker in this process, on the database and the broker of a service. */
export const startWorker = async (service: Pick<Service, "settings">, name: WorkerName) => {
  const scope = Effect.runSync(Scope.make())
  const lines: Array<string> = []
  const live = withProbes(workerLive(name)).pipe(
    Layer.provide(SqlLive),
    Layer.provide(Layer.succeed(Settings, service.settings)),
    Layer.provide(captureLogs(lines))
  )
  await Effect.runPromise(Layer.buildWithScope(live, scope))
  return { lines, stop: () => Effect.runPromise(Scope.close(scope, Exit.void)) }
}

export type RunningWorker = Awaited<ReturnType<typeof startWorker>>

/** In milliseconds. What takes long is looked at less often: a look is a request or a query. */
const pollPauses = { min: 20, max: 250 }

/** Polls until a condition holds. */
export const eventually = async (
  condition: () => boolean | Promise<boolean>,
  description: string,
  seconds = defaultWaitSeconds
) => {
  const start = Date.now()
  while (!(await condition())) {
    const elapsed = Date.now() - start
    if (elapsed > seconds * 1000) throw new Error(`Not within ${seconds} s: ${description}`)
    await pause(Math.min(Math.max(elapsed / 5, pollPauses.min), pollPauses.max))
  }
}
