import { Effect, FiberSet } from "effect"
import type { Pool } from "../../domain/delivery/SendLimits.ts"
import { type Claimed, Claims } from "../../layers/delivery/Claims.ts"
import type { Outcome } from "../../layers/delivery/Outcomes.ts"
import { makeId } from "../../layers/postgres/Ids.ts"
import { DeliveryMetrics } from "../../layers/telemetry/DeliveryMetrics.ts"
import { forEver } from "../ForEver.ts"
import type { Bell } from "../Wakes.ts"
import { Attempts } from "./Attempts.ts"
import { makeRecording } from "./Recording.ts"
import { makeSlots, type Slot } from "./Slots.ts"

const pollMillis = 500
const stopMillis = 17_000

/** Where the claims of a pool begin: behind every tenant comes the first again. */
const start = ""

/** Sends what is due, over and over, and records what came of it. When it ends, what is under way is finished. */
export const send = (bell: Bell) =>
  Effect.gen(function* () {
    const claims = yield* Claims
    const attempts = yield* Attempts
    const metrics = yield* DeliveryMetrics
    const slots = makeSlots()
    const slotOf = new Map<Outcome, Slot>()
    const fork = yield* FiberSet.makeRuntime<never, boolean, never>()
    let isStopping = false

    const record = yield* makeRecording((outcome) => {
      const slot = slotOf.get(outcome)
      slotOf.delete(outcome)
      if (slot !== undefined) slots.release(slot)
      bell.ring()
    })

    const begin = (claimed: Claimed) => {
      const slot = slots.take(claimed, Date.now())
      const attempt = Effect.flatMap(attempts.make(claimed), (made) => {
        slots.answered(slot, made.delivered, Date.now())
        // Read when it is recorded, not now: later answers may have changed it by then.
        const outcome = {
          ...made,
          get pool() {
            return slots.poolOf(slot)
          }
        }
        slotOf.set(outcome, slot)
        return record(outcome)
      })
      fork(attempt)
    }

    /** Claims for one pool in turn; tells whether it has seen everything that is due. */
    const claimingFor = (pool: Pool) => {
      let after = start
      return Effect.gen(function* () {
        const limits = slots.limitsFor(pool, Date.now())
        metrics.capped("TENANT", Object.values(limits.tenants).filter((allowance) => allowance === 0).length)
        if (limits.max === 0) metrics.capped("POOL", 1)
        if (limits.max === 0 || isStopping) return true
        const { claimed, resumeAfter } = yield* claims.claim(makeId("lease"), after, limits)
        const sawAll = resumeAfter === undefined && after === start
        after = resumeAfter ?? start
        metrics.attempted("LOST", claimed.filter(({ wasLost }) => wasLost).length)
        claimed.forEach(begin)
        return sawAll
      })
    }

    const claimProven = claimingFor("PROVEN")
    const claimNew = claimingFor("NEW")
    const claimSlow = claimingFor("SLOW")
    let slowAt = 0

    /** A slow receiver can wait for the next poll, so that looking for it costs the others nothing. */
    const claim = Effect.gen(function* () {
      const sawProven = yield* claimProven
      const sawNew = yield* claimNew
      if (Date.now() >= slowAt && (yield* claimSlow)) slowAt = Date.now() + pollMillis
      for (const [pool, used] of slots.usage()) metrics.slotsInUse(pool, used)
      if (sawProven && sawNew) yield* bell.wait(pollMillis)
    })

    yield* Effect.forkScoped(forEver("Claiming", claim))
    yield* Effect.addFinalizer(() =>
      Effect.suspend(() => {
        isStopping = true
        return Effect.sleep("20 millis")
      }).pipe(Effect.repeat({ until: () => slots.size() === 0 }), Effect.disconnect, Effect.timeoutOption(stopMillis))
    )
  })
