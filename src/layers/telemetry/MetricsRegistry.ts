import { Effect } from "effect"
import { collectDefaultMetrics, Registry } from "prom-client"

/** The Prometheus registry of this process, with the default metrics of Node.js. */
export class MetricsRegistry extends Effect.Service<MetricsRegistry>()("layers/MetricsRegistry", {
  sync: () => {
    const registry = new Registry()
    collectDefaultMetrics({ register: registry })
    return { registry }
  }
}) {}
