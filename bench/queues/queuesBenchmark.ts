import { Effect } from "effect"
import { printLine, withProgress } from "../../tools/local/ConsoleProgress.ts"
import { connectDatabase } from "../database.ts"
import { startReceivers } from "../delivery/receivers.ts"
import type { Options } from "../options.ts"
import { describeHardware } from "../report.ts"
import type { BenchEnvironment } from "../servers.ts"
import { createBenchTenant } from "../support/benchTenant.ts"
import { startProcesses } from "../support/processes.ts"
import { parts } from "./parts.ts"
import type { QueueFixture } from "./queuePart.ts"
import { findViolations, formatQueuesTable } from "./queuesReport.ts"

/** Deliveries to loopback addresses are blocked by default. */
const loopbackEnv = { DELIVERY_ALLOW: "127.0.0.0/8" }

/** Measures whether queues keep their throughput whatever they contain. Returns the violated bounds. */
export const measureQueues = (environment: BenchEnvironment, token: string, { part, profile, rounds }: Options) =>
  Effect.gen(function* () {
    const { infrastructure } = environment
    const client = yield* connectDatabase(infrastructure.databaseUrl)
    const receivers = yield* startReceivers
    const start = startProcesses(environment, profile, { workers: ["relay", "delivery"], extraEnv: loopbackEnv })
    const { api } = yield* withProgress("Starting api, relay and delivery", start, () => "Processes ready")
    const tenant = Effect.acquireRelease(
      Effect.promise(() => createBenchTenant(api, token)),
      ({ close }) => Effect.promise(close)
    )
    const newTenant = Effect.gen(function* () {
      const own = yield* tenant
      const [port = 0] = yield* Effect.promise(() => receivers.open(1))
      return { ...own, integration: yield* Effect.promise(() => own.createWebhook(port)) }
    })
    const fixture: QueueFixture = { environment, token, client, receivers, rounds, createTenant: newTenant }
    const results = yield* Effect.forEach(
      parts.filter(({ name }) => name.includes(part)),
      ({ measure }) => measure(fixture)
    )
    const comparisons = results.flat()
    yield* printLine(
      `\n${describeHardware(infrastructure.postgresDescription)}; database, service and receivers share the cores\n\n${formatQueuesTable(comparisons)}\n`
    )
    return comparisons.flatMap(findViolations)
  })
