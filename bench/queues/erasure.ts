import { Duration, Effect } from "effect"
import type pg from "pg"
import { printLine, withProgress } from "../../tools/local/ConsoleProgress.ts"
import { connectDatabase, vacuumAndCheckpoint } from "../database.ts"
import { serviceProgram } from "../infrastructure.ts"
import { median } from "../median.ts"
import { startProcess } from "../serverProcess.ts"
import { makeProcessEnv } from "../servers.ts"
import { alternate } from "../support/alternation.ts"
import { type BenchTenant, createBenchTenant } from "../support/benchTenant.ts"
import { startProcesses } from "../support/processes.ts"
import type { QueueFixture, QueuePart } from "./queuePart.ts"

const rowCount = 1_000_000
const measuredSeconds = 5
const rowsPerInsert = 100_000
/** Few enough that the api is not saturated. */
const callerCount = 4
/** Excludes the start of the process from the measurement. */
const startupDelay = "4 seconds"
const extraEnv = { TENANT_RETENTION_DAYS: "0", DELIVERY_ALLOW: "127.0.0.0/8" }

/** Inserts delivered events with one attempt each. */
const insertDeliveries = async (
  client: pg.Client,
  tenant: string,
  integration: string,
  rows: number,
  offset: number
) => {
  await client.query("alter table events disable trigger remember_events")
  for (let first = 1; first <= rows; first += rowsPerInsert) {
    const values = [tenant, integration, first, Math.min(first + rowsPerInsert - 1, rows)]
    await client.query(
      `with added as (
         insert into events (tenant_id, id, type, resource_id, sequence, occurred_at, data)
         select $1, 'evt_' || $2::text || n, 'client.updated', 'clnt_' || $2::text, n, now(), '{"id":"clnt_1"}'
         from generate_series($3::int, $4::int) n returning *
       )
       insert into event_feed (tenant_id, position, event_id, resource_id, sequence, fanned_out)
       select tenant_id, $5 + sequence, id, resource_id, sequence, true from added`,
      [...values, offset]
    )
    await client.query(
      `with added as (
         insert into deliveries (tenant_id, id, integration_id, event_id, event_type, resource_id, sequence, status,
           attempts, created_at, updated_at)
         select $1, 'dlv_' || $2::text || n, $2, 'evt_' || $2::text || n, 'client.updated', 'clnt_' || $2::text, n,
           'DELIVERED', 1, now(), now()
         from generate_series($3::int, $4::int) n returning tenant_id, id
       )
       insert into delivery_attempts (tenant_id, delivery_id, number, attempted_at, outcome)
       select tenant_id, id, 1, now(), 'DELIVERED' from added`,
      values
    )
  }
  await client.query("alter table events enable trigger remember_events")
}

const percentile95 = (times: ReadonlyArray<number>) =>
  times.toSorted((a, b) => a - b)[Math.floor(times.length * 0.95)] ?? 0

/** p95 of updates that each caller sends one after the other. */
const measureUpdates = (tenant: BenchTenant, seconds: number) =>
  Effect.promise(async () => {
    const endsAt = performance.now() + seconds * 1000
    const latencies: Array<number> = []
    const updateUntilEnd = async () => {
      const id = await tenant.createClient()
      while (performance.now() < endsAt) {
        const startedAt = performance.now()
        await tenant.updateClient(id)
        latencies.push(performance.now() - startedAt)
      }
    }
    await Promise.all(Array.from({ length: callerCount }, updateUntilEnd))
    return percentile95(latencies)
  })

const waitUntilErased = (client: pg.Client, tenant: string, integration: string) =>
  Effect.promise(async () => {
    for (;;) {
      const { rows } = await client.query(
        "select 1 from tenants where id = $1 union all select 1 from all_integrations where id = $2",
        [tenant, integration]
      )
      if (rows.length === 0) return
      await new Promise((resolve) => setTimeout(resolve, 500))
    }
  })

interface UpdateLatency {
  readonly isErasing: boolean
  readonly p95Millis: number
}

const selectLatencies = (all: ReadonlyArray<UpdateLatency>, isErasing: boolean) =>
  all.flatMap((one) => (one.isErasing === isErasing ? [one.p95Millis] : []))

const formatMedian = (all: ReadonlyArray<UpdateLatency>, isErasing: boolean) =>
  median(selectLatencies(all, isErasing)).toFixed(1)

/** Erases a large tenant and a large integration. Alternates rounds with and without the janitor. */
const measureErasure = ({ rounds, environment, token }: QueueFixture) =>
  Effect.gen(function* () {
    const client = yield* connectDatabase(environment.infrastructure.databaseUrl)
    const { api } = yield* startProcesses(environment, undefined, { workers: [], extraEnv })
    const tenant = Effect.acquireRelease(
      Effect.promise(() => createBenchTenant(api, token)),
      ({ close }) => Effect.promise(close)
    )
    const [integrationOwner, deletedTenant, measuredTenant] = [yield* tenant, yield* tenant, yield* tenant]
    const [tenantIntegration, deletedIntegration] = yield* Effect.promise(
      async () => [await deletedTenant.createWebhook(9), await integrationOwner.createWebhook(9)] as const
    )
    yield* withProgress(
      `Adding ${rowCount} deliveries to an integration, and as many to a tenant`,
      Effect.promise(async () => {
        await insertDeliveries(client, integrationOwner.id, deletedIntegration, rowCount, 1_000_000_000)
        await insertDeliveries(client, deletedTenant.id, tenantIntegration, rowCount, 2_000_000_000)
      }).pipe(Effect.zipRight(vacuumAndCheckpoint(client))),
      () => "Rows added"
    )
    const startedAt = performance.now()
    yield* Effect.promise(() => integrationOwner.delete(`/integrations/${deletedIntegration}`))
    const responseMillis = performance.now() - startedAt
    yield* Effect.promise(() => deletedTenant.delete(`/tenants/${deletedTenant.id}`))

    const startJanitor = startProcess({
      name: "janitor",
      args: [serviceProgram, "worker", "janitor"],
      env: { ...makeProcessEnv(environment), ...extraEnv },
      logFile: environment.infrastructure.logFileOf("janitor")
    })
    const results = yield* withProgress(
      "Measuring with and without the janitor",
      alternate([true, false], rounds, (isErasing) =>
        Effect.zipRight(
          Effect.when(Effect.zipRight(startJanitor, Effect.sleep(startupDelay)), () => isErasing),
          measureUpdates(measuredTenant, measuredSeconds)
        ).pipe(
          Effect.scoped,
          Effect.map((p95Millis) => ({ isErasing, p95Millis }))
        )
      ),
      (all) => `p95 ${formatMedian(all, true)} ms with the janitor, ${formatMedian(all, false)} ms without`
    )
    const [duration] = yield* withProgress(
      "Letting the janitor finish",
      Effect.timed(
        Effect.scoped(Effect.zipRight(startJanitor, waitUntilErased(client, deletedTenant.id, deletedIntegration)))
      ),
      () => "Janitor finished"
    )
    yield* printLine(
      `DELETE /integrations/{id} responded after ${responseMillis.toFixed(0)} ms; the janitor erased the rest after the rounds in ${Duration.toSeconds(duration).toFixed(0)} s`
    )
    return [
      {
        description: `the api, while ${rowCount.toLocaleString("en")} deliveries of an integration and as many events of a tenant go`,
        unit: "ms p95",
        values: selectLatencies(results, true),
        baselines: selectLatencies(results, false),
        bound: { max: 1.25 }
      }
    ]
  }).pipe(Effect.orDie, Effect.scoped)

export const erasure: QueuePart = { name: "erasing", measure: measureErasure }
