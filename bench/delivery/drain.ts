import { Effect } from "effect"
import type pg from "pg"
import { withProgress } from "../../tools/local/ConsoleProgress.ts"
import { vacuumAndCheckpoint } from "../database.ts"
import type { BenchTenant } from "../support/benchTenant.ts"
import { runConcurrently } from "../support/pacing.ts"
import type { Receivers } from "./receivers.ts"

const eventCount = 10_000
const concurrency = 32

export interface DrainResult {
  readonly clients: string
  readonly events: number
  readonly arrived: number
  readonly perSecond: number
}

/** Commits one event each of different clients, except `sameClientCount` events of one client. */
const commitEvents = async (tenant: BenchTenant, sameClientCount: number) => {
  const sharedClient = await tenant.createClient()
  await Promise.all([
    runConcurrently(eventCount - sameClientCount - 1, concurrency, tenant.createClient),
    runConcurrently(sameClientCount, 1, () => tenant.updateClient(sharedClient))
  ])
}

const waitForFanOut = (client: pg.Client, integration: string) =>
  Effect.promise(() =>
    client.query<{ count: number }>("select count(*)::integer from deliveries where integration_id = $1", [integration])
  ).pipe(Effect.delay("200 millis"), Effect.repeat({ until: ({ rows: [row] }) => (row?.count ?? 0) >= eventCount }))

const drainBacklog = async (tenant: BenchTenant, receivers: Receivers, integration: string) => {
  const startedAt = performance.timeOrigin + performance.now()
  await tenant.resume(integration)
  const arrivals = await receivers.waitForArrivals(eventCount)
  const lastAt = arrivals.reduce((latest, { arrivedAt }) => Math.max(latest, arrivedAt), startedAt)
  return { arrived: arrivals.length, perSecond: arrivals.length / ((lastAt - startedAt) / 1000) }
}

/** Measures how fast the backlog of a resumed integration is delivered. */
const measureDrain = (client: pg.Client, tenant: BenchTenant, receivers: Receivers, sameClientCount: number) =>
  Effect.gen(function* () {
    const clients =
      sameClientCount === 0 ? "each of another client" : `${sameClientCount.toLocaleString("en")} of them of one client`
    const [port = 0] = yield* Effect.promise(() => receivers.open(1))
    const integration = yield* Effect.promise(() => tenant.createWebhook(port))
    yield* Effect.promise(() => tenant.pause(integration))
    const commit = Effect.zipRight(
      Effect.promise(() => commitEvents(tenant, sameClientCount)),
      Effect.zipRight(waitForFanOut(client, integration), vacuumAndCheckpoint(client))
    )
    yield* withProgress(`Committing ${eventCount} events`, commit, () => `${eventCount} events queued, ${clients}`)
    const drain = Effect.promise(() => drainBacklog(tenant, receivers, integration))
    const result = yield* withProgress("Sending them", drain, ({ arrived, perSecond }) => {
      return `${arrived} arrived, ${perSecond.toFixed(0)}/s`
    })
    yield* Effect.promise(() => tenant.pause(integration))
    return { clients, events: eventCount, ...result } satisfies DrainResult
  })

/** Events of one client are sent one after the other, so that many of them limit the rate. */
const sameClientCounts = [0, 500]

export const measureDrains = (client: pg.Client, tenants: ReadonlyArray<BenchTenant>, receivers: Receivers) =>
  Effect.forEach(sameClientCounts, (sameClientCount, n) => {
    const tenant = tenants[n]
    return tenant === undefined
      ? Effect.dieMessage("a tenant is missing")
      : measureDrain(client, tenant, receivers, sameClientCount)
  })
