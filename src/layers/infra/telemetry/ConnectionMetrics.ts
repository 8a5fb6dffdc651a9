import { Effect } from "effect"
import { Counter, Gauge } from "prom-client"
import { DurationHistogram } from "./DurationHistogram.ts"
import { MetricsRegistry } from "./MetricsRegistry.ts"

/** Why a connection could not be opened. */
const connectionFailures = ["UNREACHABLE", "TIMEOUT", "AUTHENTICATION", "ENCRYPTION", "REJECTED", "OTHER"] as const

export type ConnectionFailure = (typeof connectionFailures)[number]

const servers = ["nats", "postgres"] as const

type Server = (typeof servers)[number]

/** Whether the servers that this process depends on can be reached, and why not. */
export class ConnectionMetrics extends Effect.Service<ConnectionMetrics>()("layers/ConnectionMetrics", {
  dependencies: [MetricsRegistry.Default],
  effect: Effect.map(MetricsRegistry, ({ registry }) => {
    const isConnected = new Gauge({
      name: "nats_connected",
      help: "1 while this process is connected to NATS, otherwise 0",
      registers: [registry]
    })
    // Without a value until the process uses NATS: the janitor never does, and must not look disconnected.
    isConnected.remove()
    const failures = new Counter({
      name: "connection_failures_total",
      help: "Connections that could not be opened, by server and reason",
      labelNames: ["server", "reason"],
      registers: [registry]
    })
    const jetStreamErrors = new Counter({
      name: "jetstream_errors_total",
      help: "Streams that could not be declared and events that could not be published, by error code",
      labelNames: ["code"],
      registers: [registry]
    })
    const poolWait = new DurationHistogram({
      name: "postgres_pool_wait_seconds",
      help: "Time that statements and transactions wait for a connection of the pool",
      labelNames: [],
      buckets: [0.001, 0.01, 0.1, 0.5, 1, 5],
      registers: [registry]
    }).series()
    for (const server of servers) for (const reason of connectionFailures) failures.inc({ server, reason }, 0)
    return {
      setNatsConnected: (connected: boolean) => isConnected.set(connected ? 1 : 0),
      countFailure: (server: Server, reason: ConnectionFailure) => failures.inc({ server, reason }),
      observePoolWait: (millis: number) => poolWait.observe(millis / 1000),
      countJetStreamError: (code: string) => jetStreamErrors.inc({ code })
    }
  })
}) {}
