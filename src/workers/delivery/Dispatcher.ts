import { Effect, FiberSet } from "effect"
import type { SendPool } from "../../domain/delivery/SendLimits.ts"
import type { AttemptResult } from "../../layers/delivery/AttemptResults.ts"
import { type ClaimedDelivery, Claims } from "../../layers/delivery/Claims.ts"
import { DeliveryMetrics } from "../../layers/delivery/DeliveryMetrics.ts"
import { makeId } from "../../layers/infra/postgres/IdGenerator.ts"
import { runForever } from "../RunForever.ts"
import type { WakeSignal } from "../WakeSignal.ts"
import { makeAttemptRecorder } from "./AttemptRecorder.ts"
import { SendAttempt } from "./SendAttempt.ts"
import { makeSendSlots, type SendSlot } from "./SendSlots.ts"

const pollMillis = 500
const drainTimeoutMs = 17_000

/** The initial cursor of a pool's claims. After the last tenant the cursor wraps around to it. */
const firstCursor = ""

/**
 * Claims due deliveries, sends them and records the outcomes. On shutdown it claims no more and drains the attempts in
 * flight.
 */
export const startDispatcher = (wakeSignal: WakeSignal) =>
  Effect.gen(function* () {
    const claims = yield* Claims
    const sendAttempt = yield* SendAttempt
    const metrics = yield* DeliveryMetrics
    const slots = makeSendSlots()
    const sentBy = new Map<AttemptResult, { readonly claimed: ClaimedDelivery; readonly slot: SendSlot }>()
    const fork = yield* FiberSet.makeRuntime<never, boolean, never>()
    let isStopping = false

    /** A redelivery that somebody asked for says nothing about the time that events take. */
    const measure = ({ provider, spent, timestamp }: ClaimedDelivery) => {
      if (spent === 0) metrics.observeDelivered(provider, Date.now() - Date.parse(timestamp))
    }

    const record = yield* makeAttemptRecorder((outcome) => {
      const sent = sentBy.get(outcome)
      sentBy.delete(outcome)
      if (sent !== undefined) {
        slots.release(sent.slot)
        if (outcome.delivered) measure(sent.claimed)
      }
      wakeSignal.notify()
    })

    const startAttempt = (claimed: ClaimedDelivery) => {
      const slot = slots.acquire(claimed, Date.now())
      const attempt = Effect.flatMap(sendAttempt.run(claimed), (result) => {
        slots.recordResponse(slot, result.delivered, Date.now())
        // A getter, because the recorder reads it later: other responses may move the receiver to another pool.
        const outcome = {
          ...result,
          get pool() {
            return slots.poolOf(slot)
          }
        }
        sentBy.set(outcome, { claimed, slot })
        return record(outcome)
      })
      fork(attempt)
    }

    /** Claims deliveries of one pool. Returns whether it saw all that are due. */
    const makeClaim = (pool: SendPool) => {
      let cursor = firstCursor
      return Effect.gen(function* () {
        const limits = slots.claimLimitsFor(pool, Date.now())
        metrics.countCapped(
          "TENANT",
          Object.values(limits.allowanceByTenant).filter((allowance) => allowance === 0).length
        )
        if (limits.max === 0) metrics.countCapped("POOL", 1)
        if (limits.max === 0 || isStopping) return true
        const { claimed, resumeAfter } = yield* claims.claim(makeId("lease"), cursor, limits)
        const sawAll = resumeAfter === undefined && cursor === firstCursor
        cursor = resumeAfter ?? firstCursor
        metrics.countAttempts("LOST", claimed.filter(({ wasLost }) => wasLost).length)
        claimed.forEach(startAttempt)
        return sawAll
      })
    }

    const claimProven = makeClaim("PROVEN")
    const claimNew = makeClaim("NEW")
    const claimSlow = makeClaim("SLOW")
    let nextSlowClaimAt = 0

    /** Claims for slow receivers once per poll interval only, so that they do not slow down the others. */
    const claim = Effect.gen(function* () {
      const sawProven = yield* claimProven
      const sawNew = yield* claimNew
      if (Date.now() >= nextSlowClaimAt && (yield* claimSlow)) nextSlowClaimAt = Date.now() + pollMillis
      for (const [pool, used] of slots.usage()) metrics.setSlotsInUse(pool, used)
      if (sawProven && sawNew) yield* wakeSignal.wait(pollMillis)
    })

    yield* Effect.forkScoped(runForever("Delivery claims", claim))
    yield* Effect.addFinalizer(() =>
      Effect.suspend(() => {
        isStopping = true
        return Effect.sleep("20 millis")
      }).pipe(
        Effect.repeat({ until: () => slots.size() === 0 }),
        Effect.disconnect,
        Effect.timeoutOption(drainTimeoutMs)
      )
    )
  })
