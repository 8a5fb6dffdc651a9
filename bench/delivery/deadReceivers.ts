import { Effect } from "effect"
import type pg from "pg"
import { withProgress } from "../../tools/local/ConsoleProgress.ts"
import type { BenchTenant } from "../support/benchTenant.ts"
import { formatLatencies, type LatencySummary, summarizeLatencies } from "../support/latencySummary.ts"
import { runAtRate } from "../support/pacing.ts"
import type { Arrival, Behaviour } from "./receivers/commands.ts"
import type { Receivers } from "./receivers.ts"

const receiverCount = 50
const perSecond = 4
const seconds = 30
const warmUpSeconds = 8
const failureModes: ReadonlyArray<Behaviour> = ["hang", "fail", "reset"]

/** The latency of deliveries to the healthy receivers. */
export interface DeadReceiverPhase extends LatencySummary {
  readonly otherReceivers: "healthy" | "dead"
  readonly expected: number
}

interface DeadReceiverFixture {
  readonly client: pg.Client
  readonly tenant: BenchTenant
  readonly receivers: Receivers
  readonly ports: ReadonlyArray<number>
  readonly integrations: ReadonlyArray<string>
}

const takeFailing = <A>(items: ReadonlyArray<A>) => items.slice(0, failureModes.length)

const selectHealthy = (fixture: DeadReceiverFixture, arrivals: ReadonlyArray<Arrival>) => {
  const dead = new Set(takeFailing(fixture.ports))
  return arrivals.filter(({ port }) => !dead.has(port))
}

const measureDeliveries = async (
  fixture: DeadReceiverFixture,
  otherReceivers: DeadReceiverPhase["otherReceivers"],
  seconds: number
): Promise<DeadReceiverPhase> => {
  const { receivers, tenant } = fixture
  const { count } = await runAtRate(perSecond, seconds, tenant.createClient)
  const expected = count * (receiverCount - failureModes.length)
  const arrivals = await receivers.waitForArrivals(otherReceivers === "dead" ? expected : count * receiverCount, 3_000)
  const latencies = selectHealthy(fixture, arrivals).map(({ arrivedAt, occurredAt }) => arrivedAt - occurredAt)
  return { otherReceivers, expected, ...summarizeLatencies(latencies) }
}

const injectFailures = ({ ports, receivers }: DeadReceiverFixture) =>
  Promise.all(takeFailing(ports).map((port, n) => receivers.setBehaviour(port, failureModes[n] ?? "respond")))

const leasedCount = `select count(*)::integer from deliveries where integration_id = any ($1) and lease is not null`

/** Deletes what the failing receivers missed; otherwise the next phase would deliver it. */
const restoreReceivers = async ({ client, integrations, ports, receivers, tenant }: DeadReceiverFixture) => {
  for (const integration of takeFailing(integrations)) await tenant.pause(integration)
  for (const port of takeFailing(ports)) await receivers.setBehaviour(port, "respond")
  for (;;) {
    const { rows } = await client.query<{ count: number }>(leasedCount, [takeFailing(integrations)])
    if (rows[0]?.count === 0) break
    await new Promise((resolve) => setTimeout(resolve, 100))
  }
  await client.query("delete from deliveries where integration_id = any ($1) and status in ('WAITING', 'PENDING')", [
    takeFailing(integrations)
  ])
  await client.query("update integrations set failing_since = null where id = any ($1)", [takeFailing(integrations)])
  for (const integration of takeFailing(integrations)) await tenant.resume(integration)
  await receivers.takeArrivals()
}

const measurePhase = (
  fixture: DeadReceiverFixture,
  otherReceivers: DeadReceiverPhase["otherReceivers"],
  label: string
) =>
  Effect.gen(function* () {
    const isDead = otherReceivers === "dead"
    if (isDead) yield* Effect.promise(() => injectFailures(fixture))
    const measurement = Effect.promise(() => measureDeliveries(fixture, otherReceivers, seconds))
    const result = yield* withProgress(label, measurement, (one) => `${label}: ${formatLatencies(one)}`)
    if (isDead) yield* Effect.promise(() => restoreReceivers(fixture))
    return result
  })

/** Alternates between phases in which all receivers respond and phases in which three fail. */
export const measureDeadReceivers = (client: pg.Client, tenant: BenchTenant, receivers: Receivers, rounds: number) =>
  Effect.gen(function* () {
    const ports = yield* Effect.promise(() => receivers.open(receiverCount))
    const integrations = yield* Effect.forEach(ports, (port) => Effect.promise(() => tenant.createWebhook(port)))
    const fixture: DeadReceiverFixture = { client, tenant, receivers, ports, integrations }
    const label = `${receiverCount} receivers, ${perSecond} events/s to each`
    const warmUp = Effect.promise(() => measureDeliveries(fixture, "healthy", warmUpSeconds))
    yield* withProgress(`${label}: warming up`, warmUp, () => `${label}: warmed up`)
    const phases: Array<DeadReceiverPhase> = []
    for (let n = 1; n <= rounds; n++) {
      phases.push(yield* measurePhase(fixture, "healthy", `${n} of ${rounds}, all respond`))
      phases.push(yield* measurePhase(fixture, "dead", `${n} of ${rounds}, three fail`))
    }
    return phases
  })
