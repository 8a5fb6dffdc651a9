import { Effect } from "effect"
import { DeliveryMetrics } from "../layers/delivery/DeliveryMetrics.ts"
import { Settings } from "../layers/infra/config/Settings.ts"
import { MetricsRegistry } from "../layers/infra/telemetry/MetricsRegistry.ts"
import { IntakeMetrics } from "../layers/trackers/IntakeMetrics.ts"
import type { PlainRoute } from "./server/AnonymousRequests.ts"
import { makePlainListener } from "./server/Listener.ts"
import { listen } from "./server/Server.ts"

export const metricsRoute = Effect.gen(function* () {
  const { registry } = yield* MetricsRegistry
  const refreshBacklogs = [(yield* DeliveryMetrics).refreshBacklog, (yield* IntakeMetrics).refreshBacklog]
  const headers = { "content-type": registry.contentType }
  const response = Effect.map(
    Effect.zipRight(
      Effect.all(refreshBacklogs, { concurrency: "unbounded", discard: true }),
      Effect.promise(() => registry.metrics())
    ),
    (body) => ({ status: 200, headers, body })
  )
  return { path: "/metrics", respond: () => response } satisfies PlainRoute
})

/**
 * Serves metrics and other routes for operators on METRICS_PORT, if it is set. A separate port has its own accept
 * queue, so a flood of API connections does not delay these.
 */
export const serveMetrics = Effect.fnUntraced(function* (otherRoutes: ReadonlyArray<PlainRoute>) {
  const { HOST: host, METRICS_PORT: port } = yield* Settings
  if (port === undefined) return
  const boundPort = yield* listen(yield* makePlainListener([yield* metricsRoute, ...otherRoutes]), { host, port })
  yield* Effect.logInfo(`Metrics are on http://${host}:${boundPort}/metrics`)
})
