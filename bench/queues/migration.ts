import autocannon from "autocannon"
import { Duration, Effect, Fiber, Logger, LogLevel } from "effect"
import { readSettings, Settings } from "../../src/layers/infra/config/Settings.ts"
import { parseMigration } from "../../src/layers/infra/postgres/migration/Migration.ts"
import { applyMigrations } from "../../src/layers/infra/postgres/migration/MigrationRunner.ts"
import { printLine, withProgress } from "../../tools/local/ConsoleProgress.ts"
import { connectDatabase } from "../database.ts"
import { formatTable } from "../markdownTable.ts"
import type { Server } from "../serverProcess.ts"
import { startService } from "../servers.ts"
import { createBenchTenant } from "../support/benchTenant.ts"
import type { QueueFixture, QueuePart } from "./queuePart.ts"

const connections = 32
const reportSeconds = 20
/** Long enough that the migration also runs under load after the report has ended. */
const loadSeconds = reportSeconds + 10

interface LoadLine {
  readonly name: string
  readonly result: autocannon.Result
}

const runLoad = ({ baseUrl }: Server, token: string, tenant: string) =>
  Effect.promise(() => {
    const headers = { authorization: `Bearer ${token}`, "tenant-id": tenant, "content-type": "application/json" }
    const read = { method: "GET", path: "/api/v1/clients?limit=5", headers } as const
    const write = { method: "POST", path: "/api/v1/clients", headers, body: JSON.stringify({ name: "New" }) } as const
    return autocannon({ url: baseUrl, connections, duration: loadSeconds, requests: [read, read, write] })
  })

/** A transaction that reads the table for a long time and so blocks the migration. */
const runLongReport = (databaseUrl: string) =>
  Effect.scoped(
    Effect.flatMap(connectDatabase(databaseUrl), (client) =>
      Effect.promise(async () => {
        await client.query("begin; select count(*) from clients")
        await client.query("select pg_sleep($1)", [reportSeconds])
        await client.query("commit")
      })
    )
  )

const alterTable = (databaseUrl: string) =>
  Effect.gen(function* () {
    const settings = yield* readSettings({ DATABASE_URL: databaseUrl })
    const migration = parseMigration("9000_bench.sql", "alter table clients add column bench text")
    const [duration] = yield* Effect.timed(Effect.provideService(applyMigrations([migration]), Settings, settings))
    return Duration.toSeconds(duration)
  }).pipe(Logger.withMinimumLogLevel(LogLevel.Warning))

const formatLoadTable = (lines: ReadonlyArray<LoadLine>) =>
  formatTable<LoadLine>(
    [
      { title: `api, ${connections} connections`, cell: ({ name }) => name, isText: true },
      { title: "requests/s", cell: ({ result }) => result.requests.average.toFixed(0) },
      { title: "p50 ms", cell: ({ result }) => String(result.latency.p50) },
      { title: "p99 ms", cell: ({ result }) => String(result.latency.p99) },
      { title: "max ms", cell: ({ result }) => String(result.latency.max) },
      { title: "5xx", cell: ({ result }) => String(result["5xx"] + result.errors + result.timeouts) }
    ],
    lines
  )

const successPercentage = (result: autocannon.Result) => {
  const failures = result["5xx"] + result.errors + result.timeouts
  return (100 * result.requests.total) / (result.requests.total + failures)
}

/** Measures the api while an `alter table` waits for a long reader: latency and errors. */
const measureMigration = ({ environment, token }: QueueFixture) =>
  Effect.gen(function* () {
    const { databaseUrl } = environment.infrastructure
    const api = yield* startService(environment, undefined, "migrating")
    const tenant = yield* Effect.acquireRelease(
      Effect.promise(() => createBenchTenant(api, token)),
      ({ close }) => Effect.promise(close)
    )
    const baseline = yield* withProgress(
      "Load without a migration",
      runLoad(api, token, tenant.id),
      () => "Load without a migration done"
    )
    const report = yield* Effect.fork(runLongReport(databaseUrl))
    const migration = yield* Effect.fork(alterTable(databaseUrl))
    const duringMigration = yield* withProgress(
      "Load during a migration",
      runLoad(api, token, tenant.id),
      () => "Load during a migration done"
    )
    yield* Fiber.join(report)
    const seconds = yield* Fiber.join(migration)
    yield* printLine(
      `\n${formatLoadTable([
        { name: "nothing else", result: baseline },
        {
          name: `alter table behind a reader of ${reportSeconds} s (done after ${seconds.toFixed(1)} s)`,
          result: duringMigration
        }
      ])}\n`
    )
    return [
      {
        description: "requests answered without a 5xx, while a table changes behind a long reader and without that",
        unit: "%",
        values: [successPercentage(duringMigration)],
        baselines: [successPercentage(baseline)],
        bound: { min: 1 }
      }
    ]
  }).pipe(Effect.orDie, Effect.scoped)

export const migration: QueuePart = { name: "migrating", measure: measureMigration }
