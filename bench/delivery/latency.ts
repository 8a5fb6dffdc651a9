import { Effect } from "effect"
import { withProgress } from "../../tools/local/ConsoleProgress.ts"
import type { BenchTenant } from "../support/benchTenant.ts"
import { formatLatencies, type LatencySummary, summarizeLatencies } from "../support/latencySummary.ts"
import { runAtRate } from "../support/pacing.ts"
import type { Receivers } from "./receivers.ts"

const perSecond = 200
const warmUpSeconds = 8
const seconds = 20

export interface DeliveryLatency extends LatencySummary {
  readonly sent: number
  readonly perSecond: number
}

const measureRound = async (tenant: BenchTenant, receivers: Receivers, seconds: number): Promise<DeliveryLatency> => {
  const sent = await runAtRate(perSecond, seconds, tenant.createClient)
  const arrivals = await receivers.waitForArrivals(sent.count)
  return {
    ...summarizeLatencies(arrivals.map(({ arrivedAt, occurredAt }) => arrivedAt - occurredAt)),
    sent: sent.count,
    perSecond: sent.perSecond
  }
}

/** Measures the time from an event's commit to its first attempt, at a constant rate of events. */
export const measureLatency = (tenant: BenchTenant, receivers: Receivers, rounds: number) =>
  Effect.gen(function* () {
    const [port = 0] = yield* Effect.promise(() => receivers.open(1))
    const integration = yield* Effect.promise(() => tenant.createWebhook(port))
    const label = `${perSecond} events/s`
    const warmUp = Effect.promise(() => measureRound(tenant, receivers, warmUpSeconds))
    yield* withProgress(`${label}: warming up`, warmUp, () => `${label}: warmed up`)
    const results: Array<DeliveryLatency> = []
    for (let n = 1; n <= rounds; n++) {
      const measurement = Effect.promise(() => measureRound(tenant, receivers, seconds))
      results.push(
        yield* withProgress(
          `${label}: round ${n} of ${rounds}`,
          measurement,
          (result) => `${label}: ${formatLatencies(result)}`
        )
      )
    }
    yield* Effect.promise(() => tenant.pause(integration))
    return results
  })
