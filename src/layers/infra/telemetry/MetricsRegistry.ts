import { Effect } from "effect"
import { collectDefaultMetrics, Gauge, Registry } from "prom-client"
import { build } from "./Build.ts"

/** The Prometheus registry of this process, with the default metrics of Node.js. */
export class MetricsRegistry extends Effect.Service<MetricsRegistry>()("layers/MetricsRegistry", {
  sync: () => {
    const registry = new Registry()
    collectDefaultMetrics({ register: registry })
    const buildInfo = new Gauge({
      name: "build_info",
      help: "Always 1; the labels tell which version of the service and of Node.js runs",
      labelNames: ["version", "node"],
      registers: [registry]
    })
    buildInfo.set({ version: build.version, node: process.versions.node }, 1)
    return { registry }
  }
}) {}
