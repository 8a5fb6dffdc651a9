import { Effect } from "effect"
import { Counter, Gauge, Histogram } from "prom-client"
import type { Refused } from "../../../layers/concurrency/FairSemaphore.ts"
import { toRequestError } from "../../../layers/concurrency/RequestRefusal.ts"
import { MetricsRegistry } from "../../../layers/telemetry/MetricsRegistry.ts"

/** Limits of the caller's own, and those of the whole service. */
type OwnReason = "rate" | "queue" | "memory" | "unread" | "lists" | "files"
export type RefusalReason = OwnReason | "full" | "timeout"

const reasonOf = (refused: Refused, own: OwnReason): RefusalReason => {
  if (refused._tag === "QueueTimeout") return "timeout"
  return refused.scope === "key" ? own : "full"
}

/** What the process measures about the requests it answers. */
export class RequestMetrics extends Effect.Service<RequestMetrics>()("http/RequestMetrics", {
  dependencies: [MetricsRegistry.Default],
  effect: Effect.map(MetricsRegistry, ({ registry }) => {
    const duration = new Histogram({
      name: "http_request_duration_seconds",
      help: "Time from the request's head to the end of the answer",
      labelNames: ["operation", "status"],
      buckets: [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10],
      registers: [registry]
    })
    const inFlight = new Gauge({
      name: "http_requests_in_flight",
      help: "Requests being worked on",
      registers: [registry]
    })
    const refusals = new Counter({
      name: "http_requests_refused_total",
      help: "Requests turned away with 429 (rate, queue, memory, unread, lists, files) or 503 (full, timeout)",
      labelNames: ["reason"],
      registers: [registry]
    })
    const queued = new Gauge({
      name: "http_requests_queued",
      help: "Requests that wait for their turn",
      labelNames: ["queue"],
      registers: [registry],
      collect: () => {
        for (const [queue, length] of queueLengths) queued.set({ queue }, length())
      }
    })
    const refused = (reason: RefusalReason) => refusals.inc({ reason })
    const queueLengths = new Map<string, () => number>()
    const observers = new Map<string, ReturnType<typeof duration.labels>>()
    const observerOf = (operation: string, status: number) => {
      const key = `${operation} ${status}`
      const known = observers.get(key) ?? duration.labels({ operation, status })
      observers.set(key, known)
      return known
    }
    return {
      refused,
      /** Counts a refusal and gives the error that answers it; `own` names the limit if it is the caller's. */
      refuse: (why: Refused, own: OwnReason = "queue") => {
        refused(reasonOf(why, own))
        return toRequestError(why)
      },
      watchQueue: (queue: string, length: () => number) => void queueLengths.set(queue, length),
      started: () => inFlight.inc(),
      finished: (operation: string, status: number, seconds: number) => {
        inFlight.dec()
        observerOf(operation, status).observe(seconds)
      }
    }
  })
}) {}
