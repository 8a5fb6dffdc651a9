import { Effect } from "effect"
import type pg from "pg"
import { withProgress } from "../../src/layers/local/ConsoleProgress.ts"
import { settle } from "../database.ts"
import { connections } from "../load.ts"
import { inTurns } from "../running/inTurns.ts"
import { together } from "../running/pace.ts"
import { type Connected, forget } from "./scene.ts"
import type { Taker } from "./taking.ts"
import { makeWebhooks } from "./webhooks.ts"

const webhooks = 4000
const issues = 200

/** How many a second are taken by one who is sent them as fast as he takes them. */
export interface Flooding {
  readonly taker: string
  readonly perSecond: number
  readonly failures: number
}

const flood = async ({ name, take }: Taker): Promise<Flooding> => {
  const sent = await makeWebhooks(webhooks, issues)
  let failures = 0
  const began = performance.now()
  await together(webhooks, connections, async (n) => {
    const webhook = sent[n]
    if (webhook === undefined || !(await take(webhook))) failures++
  })
  return { taker: name, perSecond: webhooks / ((performance.now() - began) / 1000), failures }
}

/** Sends webhooks for an integration at rest, so that nothing else is done meanwhile. */
export const measureFlooding = (
  client: pg.Client,
  held: Connected,
  takers: ReadonlyArray<Taker>,
  rounds: number
): Effect.Effect<ReadonlyArray<Flooding>> =>
  inTurns(takers, rounds, (taker, n) =>
    withProgress(
      `As fast as they are taken: ${taker.name}`,
      Effect.promise(() => flood(taker)),
      ({ perSecond, taker }) => `${n} of ${rounds}, ${taker}: ${perSecond.toFixed(0)}/s`
    ).pipe(Effect.zipLeft(forget(client, held)), Effect.zipLeft(settle(client)))
  )
