import { Effect } from "effect"
import { collectDefaultMetrics, Registry } from "prom-client"

/** What the process measures, its own health first, in the text format Prometheus reads. */
export class MetricsRegistry extends Effect.Service<MetricsRegistry>()("layers/MetricsRegistry", {
  sync: () => {
    const registry = new Registry()
    collectDefaultMetrics({ register: registry })
    return { registry }
  }
}) {}
