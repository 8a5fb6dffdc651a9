import { Effect } from "effect"
import { printLine, withProgress } from "../../tools/local/ConsoleProgress.ts"
import { connectDatabase } from "../database.ts"
import type { Options } from "../options.ts"
import { describeMachine } from "../report.ts"
import type { BenchEnvironment } from "../servers.ts"
import { createBenchTenant } from "../support/benchTenant.ts"
import { formatCpuTable, withCpuShares } from "../support/cpuShares.ts"
import { startProcesses } from "../support/processes.ts"
import { measureComponents } from "./components.ts"
import { measureDeadReceivers } from "./deadReceivers.ts"
import {
  formatComponentTable,
  formatDeadReceiverTable,
  formatDrainTable,
  formatLatencyTable
} from "./deliveryReport.ts"
import { measureDrains } from "./drain.ts"
import { measureLatency } from "./latency.ts"
import { startReceivers } from "./receivers.ts"

/** Deliveries to loopback addresses are blocked by default. */
const loopbackEnv = { DELIVERY_ALLOW: "127.0.0.0/8" }

/** Measures the time from an event's commit to its arrival at webhook receivers. */
export const measureDelivery = (environment: BenchEnvironment, token: string, { part, profile, rounds }: Options) =>
  Effect.gen(function* () {
    const { infrastructure } = environment
    const client = yield* connectDatabase(infrastructure.databaseUrl)
    const receivers = yield* startReceivers
    const start = startProcesses(environment, profile, { workers: ["relay", "delivery"], extraEnv: loopbackEnv })
    const { api, processes } = yield* withProgress("Starting api, relay and delivery", start, () => "Processes ready")
    const tenant = Effect.acquireRelease(
      Effect.promise(() => createBenchTenant(api, token)),
      ({ close }) => Effect.promise(close)
    )
    const parts = [
      {
        name: "latency",
        measure: Effect.flatMap(tenant, (own) => Effect.map(measureLatency(own, receivers, rounds), formatLatencyTable))
      },
      {
        name: "drain",
        measure: Effect.gen(function* () {
          const drains = yield* measureDrains(client, [yield* tenant, yield* tenant], receivers)
          return [
            formatDrainTable(drains),
            formatComponentTable(yield* measureComponents(infrastructure, receivers))
          ].join("\n\n")
        })
      },
      {
        name: "dead",
        measure: Effect.flatMap(tenant, (own) =>
          Effect.map(measureDeadReceivers(client, own, receivers, rounds), formatDeadReceiverTable)
        )
      }
    ]
    const results = yield* Effect.forEach(
      parts.filter(({ name }) => name.includes(part)),
      ({ measure, name }) => withCpuShares(processes, name, measure)
    )
    const tables = [
      ...results.map(({ result }) => result),
      formatCpuTable(results.flatMap(({ cpuShares }) => cpuShares))
    ]
    yield* printLine(`\n${[describeMachine(infrastructure.postgresDescription), ...tables].join("\n\n")}\n`)
  })
