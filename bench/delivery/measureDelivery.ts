import { Effect } from "effect"
import { printLine, withProgress } from "../../src/layers/local/ConsoleProgress.ts"
import { connected } from "../database.ts"
import type { Options } from "../options.ts"
import { machine } from "../report.ts"
import { effortTable, withEffort } from "../running/computing.ts"
import { startPrograms } from "../running/programs.ts"
import { makeTenant } from "../running/tenant.ts"
import type { Setting } from "../servers.ts"
import { measureBare } from "./bare.ts"
import { measureDead } from "./dead.ts"
import { deadTable, drainTable, latencyTable, rateTable } from "./deliveryReport.ts"
import { measureDrains } from "./drain.ts"
import { measureLatency } from "./latency.ts"
import { startReceivers } from "./receivers.ts"

/** Receivers are on this machine, where nothing is sent to otherwise. */
const loopback = { DELIVERY_ALLOW: "127.0.0.0/8" }

/** Measures how fast events get from their commits to receivers of webhooks. */
export const measureDelivery = (setting: Setting, token: string, { part, profile, rounds }: Options) =>
  Effect.gen(function* () {
    const { stage } = setting
    const client = yield* connected(stage.databaseUrl)
    const receivers = yield* startReceivers
    const starting = startPrograms(setting, profile, { workers: ["relay", "delivery"], extra: loopback })
    const { api, running } = yield* withProgress("Starting api, relay and delivery", starting, () => "Processes ready")
    const tenant = Effect.acquireRelease(
      Effect.promise(() => makeTenant(api, token)),
      ({ close }) => Effect.promise(close)
    )
    const parts = [
      {
        name: "latency",
        measure: Effect.flatMap(tenant, (own) => Effect.map(measureLatency(own, receivers, rounds), latencyTable))
      },
      {
        name: "drain",
        measure: Effect.gen(function* () {
          const drains = yield* measureDrains(client, [yield* tenant, yield* tenant], receivers)
          return [drainTable(drains), rateTable(yield* measureBare(stage, receivers))].join("\n\n")
        })
      },
      {
        name: "dead",
        measure: Effect.flatMap(tenant, (own) => Effect.map(measureDead(client, own, receivers, rounds), deadTable))
      }
    ]
    const told = yield* Effect.forEach(
      parts.filter(({ name }) => name.includes(part)),
      ({ measure, name }) => withEffort(running, name, measure)
    )
    const tables = [...told.map(({ found }) => found), effortTable(told.flatMap(({ efforts }) => efforts))]
    yield* printLine(`\n${[machine(stage.postgres), ...tables].join("\n\n")}\n`)
  })
