import { Effect } from "effect"
import { collectDefaultMetrics, Gauge, Histogram, Registry } from "prom-client"

/** What the process measures about itself, in the text format Prometheus reads. */
export class RequestMetrics extends Effect.Service<RequestMetrics>()("http/RequestMetrics", {
  sync: () => {
    const registry = new Registry()
    collectDefaultMetrics({ register: registry })
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
    return {
      contentType: registry.contentType,
      text: Effect.promise(() => registry.metrics()),
      started: () => inFlight.inc(),
      finished: (operation: string, status: number, seconds: number) => {
        inFlight.dec()
        duration.observe({ operation, status }, seconds)
      }
    }
  }
}) {}
