import { Effect, Layer } from "effect"
import { Settings } from "../layers/config/Settings.ts"
import { DeliveryMetrics } from "../layers/telemetry/DeliveryMetrics.ts"
import { IntakeMetrics } from "../layers/telemetry/IntakeMetrics.ts"
import { MetricsRegistry } from "../layers/telemetry/MetricsRegistry.ts"
import { makePlainListener, type PlainRoute } from "./server/Listener.ts"
import { RequestMetrics } from "./server/pages/RequestMetrics.ts"
import { listen } from "./server/Server.ts"

export const metricsRoute = Effect.gen(function* () {
  const { registry } = yield* MetricsRegistry
  const backlogs = [(yield* DeliveryMetrics).refresh, (yield* IntakeMetrics).refresh]
  const headers = { "content-type": registry.contentType }
  return {
    path: "/metrics",
    answer: Effect.map(
      Effect.zipRight(
        Effect.all(backlogs, { concurrency: "unbounded", discard: true }),
        Effect.promise(() => registry.metrics())
      ),
      (body) => ({
        status: 200,
        headers,
        body
      })
    )
  } satisfies PlainRoute
})

/**
 * Serves metrics, and what else is for operators alone, where a port of their own is named: its connections are accepted
 * beside those of callers, however many of these come at once.
 */
export const serveMetrics = Effect.fnUntraced(function* (more: ReadonlyArray<PlainRoute>) {
  const { HOST: host, METRICS_PORT: port } = yield* Settings
  if (port === undefined) return
  const taken = yield* listen(yield* makePlainListener([yield* metricsRoute, ...more]), { host, port })
  yield* Effect.logInfo(`Metrics are on http://${host}:${taken}/metrics`)
})

/** The metrics of a process that serves nothing else. */
export const MetricsLive = Layer.scopedDiscard(serveMetrics([])).pipe(
  Layer.provide([RequestMetrics.Default, MetricsRegistry.Default, DeliveryMetrics.Default, IntakeMetrics.Default])
)
