import { Effect } from "effect"
import type pg from "pg"
import { withProgress } from "../../src/layers/local/ConsoleProgress.ts"
import { settle } from "../database.ts"
import { together } from "../running/pace.ts"
import type { BenchTenant } from "../running/tenant.ts"
import type { Receivers } from "./receivers.ts"

const events = 10_000
const atOnce = 32

export interface Drain {
  readonly what: string
  readonly events: number
  readonly arrived: number
  readonly perSecond: number
}

/** Commits events of as many clients, but for so many that are about one. */
const commit = async (tenant: BenchTenant, lane: number) => {
  const one = await tenant.addClient()
  await Promise.all([
    together(events - lane - 1, atOnce, tenant.addClient),
    together(lane, 1, () => tenant.changeClient(one))
  ])
}

const isFannedOut = (client: pg.Client, integration: string) =>
  Effect.promise(() =>
    client.query<{ count: number }>("select count(*)::integer from deliveries where integration_id = $1", [integration])
  ).pipe(Effect.delay("200 millis"), Effect.repeat({ until: ({ rows: [row] }) => (row?.count ?? 0) >= events }))

const empty = async (tenant: BenchTenant, receivers: Receivers, hook: string) => {
  const began = performance.timeOrigin + performance.now()
  await tenant.resume(hook)
  const arrivals = await receivers.takeAll(events)
  const last = arrivals.reduce((latest, { at }) => Math.max(latest, at), began)
  return { arrived: arrivals.length, perSecond: arrivals.length / ((last - began) / 1000) }
}

/** How fast what has piled up for an integration that was paused gets to its receiver. */
const drain = (client: pg.Client, tenant: BenchTenant, receivers: Receivers, lane: number) =>
  Effect.gen(function* () {
    const what = lane === 0 ? "each of another client" : `${lane.toLocaleString("en")} of them of one client`
    const [port = 0] = yield* Effect.promise(() => receivers.open(1))
    const hook = yield* Effect.promise(() => tenant.hook(port))
    yield* Effect.promise(() => tenant.pause(hook))
    const committing = Effect.zipRight(
      Effect.promise(() => commit(tenant, lane)),
      Effect.zipRight(isFannedOut(client, hook), settle(client))
    )
    yield* withProgress(`Committing ${events} events`, committing, () => `${events} events wait, ${what}`)
    const emptying = Effect.promise(() => empty(tenant, receivers, hook))
    const found = yield* withProgress("Sending them", emptying, ({ arrived, perSecond }) => {
      return `${arrived} arrived, ${perSecond.toFixed(0)}/s`
    })
    yield* Effect.promise(() => tenant.pause(hook))
    return { what, events, ...found } satisfies Drain
  })

/** One lane is sent one by one, whatever else waits: it takes as long as it is. */
const lanes = [0, 500]

export const measureDrains = (client: pg.Client, tenants: ReadonlyArray<BenchTenant>, receivers: Receivers) =>
  Effect.forEach(lanes, (lane, n) => {
    const tenant = tenants[n]
    return tenant === undefined ? Effect.dieMessage("a tenant is missing") : drain(client, tenant, receivers, lane)
  })
