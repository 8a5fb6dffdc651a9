import autocannon from "autocannon"
import { Duration, Effect, Fiber, Logger, LogLevel } from "effect"
import { readSettings, Settings } from "../../src/layers/config/Settings.ts"
import { printLine, withProgress } from "../../src/layers/local/ConsoleProgress.ts"
import { parseMigration } from "../../src/layers/postgres/migration/Migration.ts"
import { applyMigrations } from "../../src/layers/postgres/migration/MigrationRunner.ts"
import { connected } from "../database.ts"
import { markdown } from "../markdown.ts"
import { makeTenant } from "../running/tenant.ts"
import type { Server } from "../serverProcess.ts"
import { startService } from "../servers.ts"
import type { Part, Scene } from "./scene.ts"

const connections = 32
const readSeconds = 20
/** So that the change itself, after the reader has left, happens under load as well. */
const loadSeconds = readSeconds + 10

interface Line {
  readonly name: string
  readonly result: autocannon.Result
}

const load = ({ base }: Server, token: string, tenant: string) =>
  Effect.promise(() => {
    const headers = { authorization: `Bearer ${token}`, "tenant-id": tenant, "content-type": "application/json" }
    const read = { method: "GET", path: "/api/v1/clients?limit=5", headers } as const
    const write = { method: "POST", path: "/api/v1/clients", headers, body: JSON.stringify({ name: "New" }) } as const
    return autocannon({ url: base, connections, duration: loadSeconds, requests: [read, read, write] })
  })

/** Somebody's long report on the table that is about to change. */
const readForLong = (databaseUrl: string) =>
  Effect.scoped(
    Effect.flatMap(connected(databaseUrl), (client) =>
      Effect.promise(async () => {
        await client.query("begin; select count(*) from clients")
        await client.query("select pg_sleep($1)", [readSeconds])
        await client.query("commit")
      })
    )
  )

const alterTable = (databaseUrl: string) =>
  Effect.gen(function* () {
    const settings = yield* readSettings({ DATABASE_URL: databaseUrl })
    const migration = parseMigration("9000_bench.sql", "alter table clients add column bench text")
    const [took] = yield* Effect.timed(Effect.provideService(applyMigrations([migration]), Settings, settings))
    return Duration.toSeconds(took)
  }).pipe(Logger.withMinimumLogLevel(LogLevel.Warning))

const tableOf = (lines: ReadonlyArray<Line>) =>
  markdown<Line>(
    [
      { title: `api, ${connections} connections`, cell: ({ name }) => name, words: true },
      { title: "requests/s", cell: ({ result }) => result.requests.average.toFixed(0) },
      { title: "p50 ms", cell: ({ result }) => String(result.latency.p50) },
      { title: "p99 ms", cell: ({ result }) => String(result.latency.p99) },
      { title: "max ms", cell: ({ result }) => String(result.latency.max) },
      { title: "5xx", cell: ({ result }) => String(result["5xx"] + result.errors + result.timeouts) }
    ],
    lines
  )

const answered = (result: autocannon.Result) => {
  const failures = result["5xx"] + result.errors + result.timeouts
  return (100 * result.requests.total) / (result.requests.total + failures)
}

/** The api beside an `alter table` on a table with a long reader: how long its callers wait, and whether any is refused. */
const measure = ({ setting, token }: Scene) =>
  Effect.gen(function* () {
    const { databaseUrl } = setting.stage
    const api = yield* startService(setting, undefined, "migrating")
    const tenant = yield* Effect.acquireRelease(
      Effect.promise(() => makeTenant(api, token)),
      ({ close }) => Effect.promise(close)
    )
    const calm = yield* withProgress("Asking the api", load(api, token, tenant.id), () => "Asked the api")
    const reader = yield* Effect.fork(readForLong(databaseUrl))
    const altering = yield* Effect.fork(alterTable(databaseUrl))
    const migrating = yield* withProgress(
      "Asking it while a table changes",
      load(api, token, tenant.id),
      () => "Asked it again"
    )
    yield* Fiber.join(reader)
    const seconds = yield* Fiber.join(altering)
    yield* printLine(
      `\n${tableOf([
        { name: "nothing else", result: calm },
        {
          name: `alter table behind a reader of ${readSeconds} s (done after ${seconds.toFixed(1)} s)`,
          result: migrating
        }
      ])}\n`
    )
    return [
      {
        what: "requests answered without a 5xx, while a table changes behind a long reader and without that",
        unit: "%",
        ones: [answered(migrating)],
        others: [answered(calm)],
        bound: { min: 1 }
      }
    ]
  }).pipe(Effect.orDie, Effect.scoped)

export const migrating: Part = { name: "migrating", measure }
