import { Effect } from "effect"
import type pg from "pg"
import { withProgress } from "../../src/layers/local/ConsoleProgress.ts"
import { settle } from "../database.ts"
import { connections } from "../load.ts"
import { together } from "../running/pace.ts"
import type { BenchTenant } from "../running/tenant.ts"
import { type Connected, waitingOf, workedOff } from "./scene.ts"
import type { Taker } from "./taking.ts"
import { makeWebhooks } from "./webhooks.ts"

const webhooks = 3000
/** Each of an issue of its own, some of each, and all of a single one. */
const spreads = [webhooks, 300, 1]

/** How fast what has piled up for an integration is worked. */
export interface Backlog {
  readonly waited: number
  readonly issues: number
  readonly perSecond: number
}

interface Place {
  readonly client: pg.Client
  readonly tenant: BenchTenant
  readonly held: Connected
  readonly taker: Taker
}

const pileUp = async ({ client, held, taker }: Place, issues: number) => {
  const sent = await makeWebhooks(webhooks, issues)
  await together(webhooks, connections, async (n) => sent[n] !== undefined && taker.take(sent[n]))
  return waitingOf(client, held)
}

const workOff = ({ client, held, tenant }: Place, issues: number, waited: number) =>
  Effect.gen(function* () {
    const began = performance.now()
    yield* Effect.promise(() => tenant.resume(held.id))
    yield* workedOff(client, held)
    const took = (performance.now() - began) / 1000
    yield* Effect.promise(() => tenant.pause(held.id))
    return { waited, issues, perSecond: waited / took } satisfies Backlog
  })

/** From the moment an integration that was paused goes on until nothing waits for it any more. */
export const measureBacklogs = (place: Place, rounds: number) =>
  Effect.forEach(
    Array.from({ length: rounds }).flatMap(() => spreads),
    (issues) =>
      Effect.gen(function* () {
        const piling = Effect.promise(() => pileUp(place, issues))
        const waited = yield* withProgress("Letting webhooks pile up", piling, (waited) => `${waited} wait`)
        yield* settle(place.client)
        const working = workOff(place, issues, waited)
        return yield* withProgress(
          "Working them",
          working,
          ({ perSecond }) => `${perSecond.toFixed(0)}/s of ${issues} issues`
        )
      })
  )
