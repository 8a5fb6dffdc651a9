import { Effect } from "effect"
import { TooManyRequests } from "../../../domain/Errors.ts"
import { standingRequests } from "../../../layers/infra/concurrency/FairQueues.ts"
import { makeFairSemaphore } from "../../../layers/infra/concurrency/FairSemaphore.ts"
import { Settings } from "../../../layers/infra/config/Settings.ts"
import { RequestMetrics } from "../pages/RequestMetrics.ts"
import { queueTimeout, sideLimits } from "./Admission.ts"
import { addRateLimitHeaders, RateLimit } from "./RateLimit.ts"

/**
 * Limits requests for pages, whose senders nobody knows: apart from the API, fairly by address and by tenant, in bounded
 * queues. An address counts as a caller.
 */
export const makePageAdmission = Effect.gen(function* () {
  const { DATABASE_POOL, MAX_QUEUED_REQUESTS, MAX_QUEUED_REQUESTS_PER_CALLER, RATE_LIMIT_PER_CALLER } = yield* Settings
  const metrics = yield* RequestMetrics
  const rateLimit = RATE_LIMIT_PER_CALLER === undefined ? undefined : new RateLimit("caller", RATE_LIMIT_PER_CALLER)
  const semaphore = makeFairSemaphore(
    {
      ...sideLimits(DATABASE_POOL),
      maxQueued: MAX_QUEUED_REQUESTS,
      maxQueuedPerKey: MAX_QUEUED_REQUESTS_PER_CALLER,
      standing: standingRequests,
      timeout: queueTimeout
    },
    metrics.makeReject("pages")
  )
  metrics.registerQueue("pages", semaphore)

  return {
    /** Fails if the address has sent too many requests. */
    requireRate: (key: string, headers: Record<string, string>) =>
      Effect.suspend((): Effect.Effect<void, TooManyRequests> => {
        if (rateLimit === undefined) return Effect.void
        const state = rateLimit.take(key, Date.now())
        addRateLimitHeaders(headers, rateLimit, state)
        if (state.isAllowed) return Effect.void
        metrics.countRejection("rate")
        return Effect.fail(new TooManyRequests())
      }),

    /** Runs statements as soon as the keys get a permit. */
    admit: semaphore.withPermit
  }
})
