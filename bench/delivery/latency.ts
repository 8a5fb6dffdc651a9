import { Effect } from "effect"
import { withProgress } from "../../src/layers/local/ConsoleProgress.ts"
import { steadily } from "../running/pace.ts"
import { type Spread, spreadOf, told } from "../running/spread.ts"
import type { BenchTenant } from "../running/tenant.ts"
import type { Receivers } from "./receivers.ts"

const perSecond = 200
const warmUpSeconds = 8
const seconds = 20

export interface Latency extends Spread {
  readonly sent: number
  readonly perSecond: number
}

const round = async (tenant: BenchTenant, receivers: Receivers, seconds: number): Promise<Latency> => {
  const sent = await steadily(perSecond, seconds, tenant.addClient)
  const arrivals = await receivers.takeAll(sent.count)
  return {
    ...spreadOf(arrivals.map(({ at, happened }) => at - happened)),
    sent: sent.count,
    perSecond: sent.perSecond
  }
}

/** From an event's commit to its first attempt, while events come evenly. */
export const measureLatency = (tenant: BenchTenant, receivers: Receivers, rounds: number) =>
  Effect.gen(function* () {
    const [port = 0] = yield* Effect.promise(() => receivers.open(1))
    const hook = yield* Effect.promise(() => tenant.hook(port))
    const label = `${perSecond} events/s`
    const rest = Effect.promise(() => round(tenant, receivers, warmUpSeconds))
    yield* withProgress(`${label}: warming up`, rest, () => `${label}: warmed up`)
    const found: Array<Latency> = []
    for (let n = 1; n <= rounds; n++) {
      const measuring = Effect.promise(() => round(tenant, receivers, seconds))
      found.push(yield* withProgress(`${label}: round ${n} of ${rounds}`, measuring, (one) => `${label}: ${told(one)}`))
    }
    yield* Effect.promise(() => tenant.pause(hook))
    return found
  })
