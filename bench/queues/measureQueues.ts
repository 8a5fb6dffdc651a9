import { Effect } from "effect"
import { printLine, withProgress } from "../../src/layers/local/ConsoleProgress.ts"
import { connected } from "../database.ts"
import { startReceivers } from "../delivery/receivers.ts"
import type { Options } from "../options.ts"
import { hardware } from "../report.ts"
import { startPrograms } from "../running/programs.ts"
import { makeTenant } from "../running/tenant.ts"
import type { Setting } from "../servers.ts"
import { parts } from "./parts.ts"
import { brokenIn, queuesTable } from "./queuesReport.ts"
import type { Scene } from "./scene.ts"

/** Receivers are on this machine, where nothing is sent to otherwise. */
const loopback = { DELIVERY_ALLOW: "127.0.0.0/8" }

/** Measures whether queues keep their pace whatever else is in them; tells what does not. */
export const measureQueues = (setting: Setting, token: string, { part, profile, rounds }: Options) =>
  Effect.gen(function* () {
    const { stage } = setting
    const client = yield* connected(stage.databaseUrl)
    const receivers = yield* startReceivers
    const starting = startPrograms(setting, profile, { workers: ["relay", "delivery"], extra: loopback })
    const { api } = yield* withProgress("Starting api, relay and delivery", starting, () => "Processes ready")
    const tenant = Effect.acquireRelease(
      Effect.promise(() => makeTenant(api, token)),
      ({ close }) => Effect.promise(close)
    )
    const newTenant = Effect.gen(function* () {
      const own = yield* tenant
      const [port = 0] = yield* Effect.promise(() => receivers.open(1))
      return { ...own, integration: yield* Effect.promise(() => own.hook(port)) }
    })
    const scene: Scene = { setting, token, client, receivers, rounds, newTenant }
    const found = yield* Effect.forEach(
      parts.filter(({ name }) => name.includes(part)),
      ({ measure }) => measure(scene)
    )
    const findings = found.flat()
    yield* printLine(
      `\n${hardware(stage.postgres)}; database, service and receivers share the cores\n\n${queuesTable(findings)}\n`
    )
    return findings.flatMap(brokenIn)
  })
