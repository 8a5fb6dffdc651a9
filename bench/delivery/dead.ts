import { Effect } from "effect"
import type pg from "pg"
import { withProgress } from "../../src/layers/local/ConsoleProgress.ts"
import { steadily } from "../running/pace.ts"
import { type Spread, spreadOf, told } from "../running/spread.ts"
import type { BenchTenant } from "../running/tenant.ts"
import type { Arrival, Behaviour } from "./receivers/orders.ts"
import type { Receivers } from "./receivers.ts"

const integrations = 50
const perSecond = 4
const seconds = 30
const warmUpSeconds = 8
const illnesses: ReadonlyArray<Behaviour> = ["hang", "fail", "reset"]

/** How long deliveries to those who stay healthy took, while the others were so. */
export interface Phase extends Spread {
  readonly others: "healthy" | "dead"
  readonly expected: number
}

interface Scene {
  readonly client: pg.Client
  readonly tenant: BenchTenant
  readonly receivers: Receivers
  readonly ports: ReadonlyArray<number>
  readonly hooks: ReadonlyArray<string>
}

const ill = <A>(items: ReadonlyArray<A>) => items.slice(0, illnesses.length)

const healthyOf = (scene: Scene, arrivals: ReadonlyArray<Arrival>) => {
  const dead = new Set(ill(scene.ports))
  return arrivals.filter(({ port }) => !dead.has(port))
}

const run = async (scene: Scene, others: Phase["others"], seconds: number): Promise<Phase> => {
  const { receivers, tenant } = scene
  const { count } = await steadily(perSecond, seconds, tenant.addClient)
  const expected = count * (integrations - illnesses.length)
  const arrivals = await receivers.takeAll(others === "dead" ? expected : count * integrations, 3_000)
  const took = healthyOf(scene, arrivals).map(({ at, happened }) => at - happened)
  return { others, expected, ...spreadOf(took) }
}

const fallIll = ({ ports, receivers }: Scene) =>
  Promise.all(ill(ports).map((port, n) => receivers.behave(port, illnesses[n] ?? "answer")))

const underWay = `select count(*)::integer from deliveries where integration_id = any ($1) and lease is not null`

/** As if they had never been ill: what they missed would be sent to them in the next phase. */
const recover = async ({ client, hooks, ports, receivers, tenant }: Scene) => {
  for (const hook of ill(hooks)) await tenant.pause(hook)
  for (const port of ill(ports)) await receivers.behave(port, "answer")
  for (;;) {
    const { rows } = await client.query<{ count: number }>(underWay, [ill(hooks)])
    if (rows[0]?.count === 0) break
    await new Promise((resolve) => setTimeout(resolve, 100))
  }
  await client.query("delete from deliveries where integration_id = any ($1) and status in ('WAITING', 'PENDING')", [
    ill(hooks)
  ])
  await client.query("update integrations set failing_since = null where id = any ($1)", [ill(hooks)])
  for (const hook of ill(hooks)) await tenant.resume(hook)
  await receivers.take()
}

const phase = (scene: Scene, others: Phase["others"], label: string) =>
  Effect.gen(function* () {
    const dead = others === "dead"
    if (dead) yield* Effect.promise(() => fallIll(scene))
    const measuring = Effect.promise(() => run(scene, others, seconds))
    const found = yield* withProgress(label, measuring, (one) => `${label}: ${told(one)}`)
    if (dead) yield* Effect.promise(() => recover(scene))
    return found
  })

/** What those who answer notice of others who do not, in turns with what they notice when all answer. */
export const measureDead = (client: pg.Client, tenant: BenchTenant, receivers: Receivers, rounds: number) =>
  Effect.gen(function* () {
    const ports = yield* Effect.promise(() => receivers.open(integrations))
    const hooks = yield* Effect.forEach(ports, (port) => Effect.promise(() => tenant.hook(port)))
    const scene: Scene = { client, tenant, receivers, ports, hooks }
    const label = `${integrations} receivers, ${perSecond} events/s to each`
    const warming = Effect.promise(() => run(scene, "healthy", warmUpSeconds))
    yield* withProgress(`${label}: warming up`, warming, () => `${label}: warmed up`)
    const found: Array<Phase> = []
    for (let n = 1; n <= rounds; n++) {
      found.push(yield* phase(scene, "healthy", `${n} of ${rounds}, all answer`))
      found.push(yield* phase(scene, "dead", `${n} of ${rounds}, three do not answer`))
    }
    return found
  })
