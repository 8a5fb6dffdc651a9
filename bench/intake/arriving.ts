import { Effect } from "effect"
import type pg from "pg"
import { withProgress } from "../../src/layers/local/ConsoleProgress.ts"
import { settle } from "../database.ts"
import { inTurns } from "../running/inTurns.ts"
import { steadily } from "../running/pace.ts"
import { type Spread, spreadOf, told } from "../running/spread.ts"
import { type Connected, waitingOf, workedOff } from "./scene.ts"
import type { Taker } from "./taking.ts"
import { makeWebhooks } from "./webhooks.ts"

export const perSecond = 300
const issues = 200
/** Until the processes have compiled what they run all the time; before that they are several times slower. */
const warmUpSeconds = 15
const seconds = 10

/** How long webhooks took to be answered, from when they were due. */
export interface Arriving extends Spread {
  readonly taker: string
  readonly perSecond: number
  readonly failures: number
  /** What was not worked yet when the last was answered. */
  readonly waiting: number
}

const round = async (client: pg.Client, live: Connected, { name, take }: Taker, seconds: number): Promise<Arriving> => {
  const webhooks = (await makeWebhooks(perSecond * seconds, issues)).values()
  const took: Array<number> = []
  let failures = 0
  const sent = await steadily(perSecond, seconds, async (due) => {
    const { value } = webhooks.next()
    const isTaken = value !== undefined && (await take(value))
    took.push(performance.now() - due)
    if (!isTaken) failures++
  })
  const waiting = await waitingOf(client, live)
  return { taker: name, ...spreadOf(took), perSecond: sent.perSecond, failures, waiting }
}

/** Lets webhooks come evenly, to one taker after the other, each round beginning with another. */
export const measureArriving = (
  client: pg.Client,
  live: Connected,
  takers: ReadonlyArray<Taker>,
  rounds: number
): Effect.Effect<ReadonlyArray<Arriving>> =>
  Effect.gen(function* () {
    const label = `${perSecond} webhooks/s`
    const sending = (taker: Taker, seconds: number) =>
      Effect.zipLeft(
        Effect.promise(() => round(client, live, taker, seconds)),
        workedOff(client, live)
      )
    const warming = Effect.forEach(takers, (taker) => sending(taker, warmUpSeconds))
    yield* withProgress(`${label}: warming up`, warming, () => `${label}: warmed up`)
    yield* settle(client)
    return yield* inTurns(takers, rounds, (taker, n) =>
      withProgress(
        `${label}: ${taker.name}`,
        sending(taker, seconds),
        (one) => `${n} of ${rounds}, ${one.taker}: ${told(one)}`
      )
    )
  })
