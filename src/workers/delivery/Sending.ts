import { Effect, FiberSet, Queue, Schedule } from "effect"
import { makeId } from "../../layers/Ids.ts"
import { type Claimed, Claims, type Turn } from "../../layers/sql/delivery/Claims.ts"
import { type Outcome, Outcomes } from "../../layers/sql/delivery/Outcomes.ts"
import { Integrations } from "../../layers/sql/integrations/Integrations.ts"
import { DeliveryMetrics } from "../../layers/telemetry/DeliveryMetrics.ts"
import { forEver } from "../ForEver.ts"
import type { Bell } from "../Wakes.ts"
import { Attempts } from "./Attempts.ts"

/** So many at once in one process, and to one receiver from all of them: half may be on their way while half are noted. */
const mostAtOnce = 256
export const mostEach = 64
const mostInClaim = 100
const mostInRecord = 200
const pollMillis = 500
const stopMillis = 17_000

const start: Turn = { tenant: "", integration: "" }

/** Writes down what came of attempts. It must not get lost: while the database is away, it is kept here. */
const makeRecording = Effect.gen(function* () {
  const outcomes = yield* Outcomes
  const integrations = yield* Integrations
  const metrics = yield* DeliveryMetrics

  const count = (batch: ReadonlyArray<Outcome>) => {
    const delivered = batch.filter(({ delivered }) => delivered).length
    metrics.attempted("DELIVERED", delivered)
    metrics.attempted("FAILED", batch.length - delivered)
  }

  /** Who can be sent nothing is sent nothing, until somebody says otherwise. */
  const stop = ({ integration, stop, tenant }: Outcome) =>
    stop === undefined ? Effect.void : integrations.fail(tenant, integration, stop)

  /** The integration stops first: what is due at once when it is resumed must not be due while it goes on. */
  return (batch: ReadonlyArray<Outcome>) =>
    Effect.forEach(batch, stop, { discard: true }).pipe(
      Effect.zipRight(outcomes.record(batch)),
      Effect.sandbox,
      Effect.tapError((cause) => Effect.logWarning("Outcomes could not be written down; it is tried again", cause)),
      Effect.retry(Schedule.spaced("1 second")),
      Effect.unsandbox,
      Effect.zipRight(Effect.sync(() => count(batch)))
    )
})

/** Sends what is due, over and over, and writes down what came of it. When it ends, what is under way is finished. */
export const send = (bell: Bell) =>
  Effect.gen(function* () {
    const claims = yield* Claims
    const attempts = yield* Attempts
    const metrics = yield* DeliveryMetrics
    const recordAll = yield* makeRecording
    const finished = yield* Queue.unbounded<Outcome>()
    const fork = yield* FiberSet.makeRuntime<never, boolean, never>()
    let underWay = 0
    let isStopping = false
    let turn = start

    const begin = (claimed: Claimed) => {
      underWay++
      fork(Effect.flatMap(attempts.make(claimed), (outcome) => Queue.offer(finished, outcome)))
    }

    const claim = Effect.gen(function* () {
      const most = Math.min(mostAtOnce - underWay, mostInClaim)
      if (most <= 0 || isStopping) return yield* bell.wait(pollMillis)
      const claimed = yield* claims.claim(makeId("lease"), turn, { each: mostEach, most })
      const sawAll = turn === start && claimed.length < most
      turn = claimed.length < most ? start : (claimed.at(-1) ?? start)
      metrics.attempted("LOST", claimed.filter(({ wasLost }) => wasLost).length)
      claimed.forEach(begin)
      if (sawAll) yield* bell.wait(pollMillis)
    })

    const record = Effect.gen(function* () {
      const batch = [...(yield* Queue.takeBetween(finished, 1, mostInRecord))]
      yield* recordAll(batch)
      underWay -= batch.length
      bell.ring()
    })

    yield* Effect.forkScoped(forEver("Recording", record))
    yield* Effect.forkScoped(forEver("Claiming", claim))
    yield* Effect.addFinalizer(() =>
      Effect.suspend(() => {
        isStopping = true
        return Effect.sleep("20 millis")
      }).pipe(Effect.repeat({ until: () => underWay === 0 }), Effect.disconnect, Effect.timeoutOption(stopMillis))
    )
  })
