import { Effect } from "effect"
import { printLine, withProgress } from "../../src/layers/local/ConsoleProgress.ts"
import { connected } from "../database.ts"
import type { Options } from "../options.ts"
import { machine } from "../report.ts"
import { effortTable, withEffort } from "../running/computing.ts"
import { startPrograms } from "../running/programs.ts"
import { makeTenant } from "../running/tenant.ts"
import type { Setting } from "../servers.ts"
import { measureArriving } from "./arriving.ts"
import { measureBacklogs } from "./backlog.ts"
import { measureFlooding } from "./flooding.ts"
import { arrivingTable, backlogTable, floodingTable } from "./intakeReport.ts"
import { connect } from "./scene.ts"
import { bareTaker, serviceTaker } from "./taking.ts"
import { clientSecret } from "./webhooks.ts"

const wanted = {
  workers: ["relay", "delivery", "intake"],
  extra: { JIRA_CLIENT_ID: "bench", JIRA_CLIENT_SECRET: clientSecret, PUBLIC_URL: "https://contracting.example" }
} as const

/** Two integrations of a tenant, one at work and one at rest, and whoever takes webhooks for them. */
const setScene = (setting: Setting, token: string, profile: string | undefined) =>
  Effect.gen(function* () {
    const { databaseUrl } = setting.stage
    const client = yield* connected(databaseUrl)
    const { api, running } = yield* startPrograms(setting, profile, wanted)
    const tenant = yield* Effect.acquireRelease(
      Effect.promise(() => makeTenant(api, token)),
      ({ close }) => Effect.promise(close)
    )
    const live = yield* Effect.promise(() => connect(client, tenant))
    const held = yield* Effect.promise(() => connect(client, tenant))
    yield* Effect.promise(() => tenant.pause(held.id))
    const taker = yield* serviceTaker(api, held)
    const bare = yield* bareTaker(databaseUrl, held)
    return { client, running, tenant, live, held, taker, bare, atWork: yield* serviceTaker(api, live) }
  })

/** Measures how fast webhooks of a tracker are answered and worked; tells how many were not taken. */
export const measureIntake = (setting: Setting, token: string, { part, profile, rounds }: Options) =>
  Effect.gen(function* () {
    const starting = setScene(setting, token, profile)
    const scene = yield* withProgress("Starting api, relay, delivery and intake", starting, () => "Processes ready")
    const { atWork, bare, client, held, live, running, taker } = scene
    const parts = [
      {
        name: "arriving",
        measure: Effect.map(measureArriving(client, live, [atWork, bare], rounds), (found) => ({
          table: arrivingTable(found),
          failures: found.map(({ failures }) => failures)
        }))
      },
      {
        name: "flooding",
        measure: Effect.map(measureFlooding(client, held, [taker, bare], rounds), (found) => ({
          table: floodingTable(found),
          failures: found.map(({ failures }) => failures)
        }))
      },
      {
        name: "backlog",
        measure: Effect.map(measureBacklogs(scene, rounds), (found) => ({ table: backlogTable(found), failures: [0] }))
      }
    ]
    const told = yield* Effect.forEach(
      parts.filter(({ name }) => name.includes(part)),
      ({ measure, name }) => withEffort(running, name, measure)
    )
    const tables = [...told.map(({ found }) => found.table), effortTable(told.flatMap(({ efforts }) => efforts))]
    yield* printLine(`\n${[machine(setting.stage.postgres), ...tables].join("\n\n")}\n`)
    return told.flatMap(({ found }) => found.failures).reduce((sum, one) => sum + one, 0)
  })
