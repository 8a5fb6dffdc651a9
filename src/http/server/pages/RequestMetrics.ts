import { Effect } from "effect"
import { Counter, Gauge } from "prom-client"
import type { PermitRejection } from "../../../layers/infra/concurrency/KeyQueue.ts"
import { makeToRequestError } from "../../../layers/infra/concurrency/RequestRejection.ts"
import { DurationHistogram, type DurationSeries } from "../../../layers/infra/telemetry/DurationHistogram.ts"
import { MetricsRegistry } from "../../../layers/infra/telemetry/MetricsRegistry.ts"

/** Limits per caller or tenant; `RefusalReason` adds those of the whole process. */
type KeyedReason = "rate" | "queue" | "memory" | "unread" | "lists" | "files" | "exports"
export type RejectionReason = KeyedReason | "full" | "timeout"

const reasonOf = (rejection: PermitRejection, keyedReason: KeyedReason): RejectionReason => {
  if (rejection._tag === "QueueTimeout") return "timeout"
  return rejection.scope === "key" ? keyedReason : "full"
}

interface ObservedQueue {
  readonly queued: () => number
  readonly isStanding: () => boolean
}

/** Metrics of the requests that this process serves. */
export class RequestMetrics extends Effect.Service<RequestMetrics>()("http/RequestMetrics", {
  dependencies: [MetricsRegistry.Default],
  effect: Effect.map(MetricsRegistry, ({ registry }) => {
    const duration = new DurationHistogram({
      name: "http_request_duration_seconds",
      help: "Time from the request's head to the end of the response",
      labelNames: ["operation", "status"],
      buckets: [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10],
      registers: [registry]
    })
    let requestsInFlight = 0
    const inFlight = new Gauge({
      name: "http_requests_in_flight",
      help: "Requests in progress",
      registers: [registry],
      collect: () => {
        inFlight.set(requestsInFlight)
      }
    })
    const rejections = new Counter({
      name: "http_requests_refused_total",
      help: "Requests rejected with 429 (rate, queue, memory, unread, lists, files, exports) or 503 (full, timeout)",
      labelNames: ["reason"],
      registers: [registry]
    })
    const queued = new Gauge({
      name: "http_requests_queued",
      help: "Requests waiting for a permit",
      labelNames: ["queue"],
      registers: [registry],
      collect: () => {
        for (const [queue, { queued: length }] of queues) queued.set({ queue }, length())
      }
    })
    const standing = new Gauge({
      name: "http_requests_queue_standing",
      help: "Whether requests have waited for too long all through a second, so that the maxima of the queue apply",
      labelNames: ["queue"],
      registers: [registry],
      collect: () => {
        for (const [queue, { isStanding }] of queues) standing.set({ queue }, isStanding() ? 1 : 0)
      }
    })
    const countRejection = (reason: RejectionReason) => rejections.inc({ reason })
    const queues = new Map<string, ObservedQueue>()
    /** The series of each operation by status. */
    const operations = new Map<string, Map<number, DurationSeries>>()
    const seriesOf = (operation: string, status: number) => {
      const byStatus = operations.get(operation) ?? new Map<number, DurationSeries>()
      operations.set(operation, byStatus)
      const series = byStatus.get(status) ?? duration.series(operation, String(status))
      byStatus.set(status, series)
      return series
    }
    return {
      countRejection,
      /** Counts rejections and returns their errors. `keyedReason` is the reason if the limit is one per key. */
      makeReject: (queue: string, keyedReason: KeyedReason = "queue") => {
        const toRequestError = makeToRequestError(queue)
        return (rejection: PermitRejection) => {
          countRejection(reasonOf(rejection, keyedReason))
          return toRequestError(rejection)
        }
      },
      registerQueue: (name: string, queue: ObservedQueue) => void queues.set(name, queue),
      requestsInFlight: () => requestsInFlight,
      requestStarted: () => void requestsInFlight++,
      requestFinished: (operation: string, status: number, seconds: number) => {
        requestsInFlight--
        seriesOf(operation, status).observe(seconds)
      }
    }
  })
}) {}
