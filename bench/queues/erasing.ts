import { Duration, Effect } from "effect"
import type pg from "pg"
import { printLine, withProgress } from "../../src/layers/local/ConsoleProgress.ts"
import { connected, settle } from "../database.ts"
import { median } from "../median.ts"
import { inTurns } from "../running/inTurns.ts"
import { startPrograms } from "../running/programs.ts"
import { type BenchTenant, makeTenant } from "../running/tenant.ts"
import { startProcess } from "../serverProcess.ts"
import { environmentOf } from "../servers.ts"
import { service } from "../stage.ts"
import type { Part, Scene } from "./scene.ts"

const rows = 1_000_000
const seconds = 5
const chunk = 100_000
/** Requests under way at a time: the api has room to spare, as one that is not overloaded. */
const callers = 4
/** The start of the process is not what is measured. */
const startup = "4 seconds"
const extra = { TENANT_RETENTION_DAYS: "0", DELIVERY_ALLOW: "127.0.0.0/8" }

/** Events of which an integration was told, with one attempt each. */
const plant = async (client: pg.Client, tenant: string, integration: string, rows: number, offset: number) => {
  await client.query("alter table events disable trigger remember_events")
  for (let first = 1; first <= rows; first += chunk) {
    const range = [tenant, integration, first, Math.min(first + chunk - 1, rows)]
    await client.query(
      `with added as (
         insert into events (tenant_id, id, type, resource_id, sequence, occurred_at, data)
         select $1, 'evt_' || $2::text || n, 'client.updated', 'clnt_' || $2::text, n, now(), '{"id":"clnt_1"}'
         from generate_series($3::int, $4::int) n returning *
       )
       insert into event_feed (tenant_id, position, event_id, resource_id, sequence, fanned_out)
       select tenant_id, $5 + sequence, id, resource_id, sequence, true from added`,
      [...range, offset]
    )
    await client.query(
      `with told as (
         insert into deliveries (tenant_id, id, integration_id, event_id, event_type, resource_id, sequence, status,
           attempts, created_at, updated_at)
         select $1, 'dlv_' || $2::text || n, $2, 'evt_' || $2::text || n, 'client.updated', 'clnt_' || $2::text, n,
           'DELIVERED', 1, now(), now()
         from generate_series($3::int, $4::int) n returning tenant_id, id
       )
       insert into delivery_attempts (tenant_id, delivery_id, number, attempted_at, outcome)
       select tenant_id, id, 1, now(), 'DELIVERED' from told`,
      range
    )
  }
  await client.query("alter table events enable trigger remember_events")
}

const p95 = (times: ReadonlyArray<number>) => times.toSorted((a, b) => a - b)[Math.floor(times.length * 0.95)] ?? 0

/** The 95th percentile of changes that a few callers make one after the other. */
const changing = (tenant: BenchTenant, seconds: number) =>
  Effect.promise(async () => {
    const end = performance.now() + seconds * 1000
    const times: Array<number> = []
    const call = async () => {
      const id = await tenant.addClient()
      while (performance.now() < end) {
        const began = performance.now()
        await tenant.changeClient(id)
        times.push(performance.now() - began)
      }
    }
    await Promise.all(Array.from({ length: callers }, call))
    return p95(times)
  })

const untilGone = (client: pg.Client, tenant: string, integration: string) =>
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

interface Measured {
  readonly isErasing: boolean
  readonly millis: number
}

const timesOf = (all: ReadonlyArray<Measured>, wanted: boolean) =>
  all.flatMap(({ isErasing, millis }) => (isErasing === wanted ? [millis] : []))

const medianOf = (all: ReadonlyArray<Measured>, wanted: boolean) => median(timesOf(all, wanted)).toFixed(1)

/** Erases a large tenant and a large integration, and measures the api beside that and without it, in turns. */
const measure = ({ rounds, setting, token }: Scene) =>
  Effect.gen(function* () {
    const client = yield* connected(setting.stage.databaseUrl)
    const { api } = yield* startPrograms(setting, undefined, { workers: [], extra })
    const tenant = Effect.acquireRelease(
      Effect.promise(() => makeTenant(api, token)),
      ({ close }) => Effect.promise(close)
    )
    const [own, other, healthy] = [yield* tenant, yield* tenant, yield* tenant]
    const [kept, deleted] = yield* Effect.promise(async () => [await other.hook(9), await own.hook(9)] as const)
    yield* withProgress(
      `Adding ${rows} deliveries to an integration, and as many to a tenant`,
      Effect.promise(async () => {
        await plant(client, own.id, deleted, rows, 1_000_000_000)
        await plant(client, other.id, kept, rows, 2_000_000_000)
      }).pipe(Effect.zipRight(settle(client))),
      () => "Rows added"
    )
    const began = performance.now()
    yield* Effect.promise(() => own.remove(`/integrations/${deleted}`))
    const answeredMillis = performance.now() - began
    yield* Effect.promise(() => other.remove(`/tenants/${other.id}`))

    const janitor = startProcess({
      name: "janitor",
      args: [service, "worker", "janitor"],
      env: { ...environmentOf(setting), ...extra },
      logFile: setting.stage.logOf("janitor")
    })
    const measured = yield* withProgress(
      "Measuring with and without the janitor",
      inTurns([true, false], rounds, (isErasing) =>
        Effect.zipRight(
          Effect.when(Effect.zipRight(janitor, Effect.sleep(startup)), () => isErasing),
          changing(healthy, seconds)
        ).pipe(
          Effect.scoped,
          Effect.map((millis) => ({ isErasing, millis }))
        )
      ),
      (all) => `Measured: p95 ${medianOf(all, true)} ms with it, ${medianOf(all, false)} ms without`
    )
    const [took] = yield* withProgress(
      "Letting the janitor finish",
      Effect.timed(Effect.scoped(Effect.zipRight(janitor, untilGone(client, other.id, deleted)))),
      () => "Nothing is left"
    )
    yield* printLine(
      `DELETE /integrations/{id} answered after ${answeredMillis.toFixed(0)} ms; what the rounds had left of both was removed in ${Duration.toSeconds(took).toFixed(0)} s`
    )
    return [
      {
        what: `the api, while ${rows.toLocaleString("en")} deliveries of an integration and as many events of a tenant go`,
        unit: "ms p95",
        ones: timesOf(measured, true),
        others: timesOf(measured, false),
        bound: { max: 1.25 }
      }
    ]
  }).pipe(Effect.orDie, Effect.scoped)

export const erasing: Part = { name: "erasing", measure }
