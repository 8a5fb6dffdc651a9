import { SqlError } from "@effect/sql/SqlError"
import { Array, Cause, Chunk, Duration, Effect, FiberSet, Order, Queue, Schedule } from "effect"
import { type AttemptResult, AttemptResults } from "../../layers/delivery/AttemptResults.ts"
import { DeliveryMetrics } from "../../layers/delivery/DeliveryMetrics.ts"
import { isConnectionFatal } from "../../layers/infra/postgres/connection/TransientErrors.ts"
import { Integrations } from "../../layers/integrations/Integrations.ts"
import { runForever } from "../RunForever.ts"

const maxBatchSize = 200
/** Concurrent statements for outcomes that are recorded outside of the main batch. */
const maxIsolated = 3
/** Backoff for outcomes whose rows another transaction has locked. */
const minBackoffMs = 10
const maxBackoffMs = 250

/** After so many tries the recorder waits for the lock, because retries alone may starve. */
const maxTriesWithoutWaiting = 5

const retrySchedule = Schedule.union(Schedule.exponential("1 second"), Schedule.spaced("30 seconds"))

/** Results that also lock an integration, or the invoice of a mail, must not make the main batch wait. */
const needsIsolation = ({ mail, stopReason }: AttemptResult) => stopReason !== undefined || mail !== undefined

type Busy = ReadonlyArray<AttemptResult>

/** Without a connection, splitting the batch would not help. */
const isDatabaseDown = (cause: Cause.Cause<unknown>) => {
  const error = Cause.squash(cause)
  return error instanceof SqlError && isConnectionFatal(error.cause)
}

/**
 * Records the outcomes of attempts in batches and calls `onRecorded` for each. It retries an outcome until it is
 * recorded, because the receiver has already seen the event. An outcome that cannot be recorded does not delay the
 * others.
 */
export const makeAttemptRecorder = (onRecorded: (outcome: AttemptResult) => void) =>
  Effect.gen(function* () {
    const outcomes = yield* AttemptResults
    const integrations = yield* Integrations
    const metrics = yield* DeliveryMetrics
    const finished = yield* Queue.unbounded<AttemptResult>()
    const fork = yield* FiberSet.makeRuntime<never, void, never>()
    const isolated = yield* Effect.makeSemaphore(maxIsolated)
    const busyTries = new Map<AttemptResult, number>()

    const warn = (cause: Cause.Cause<unknown>) =>
      Effect.logWarning("Outcomes of attempts could not be recorded; retrying", cause)

    const settle = (outcome: AttemptResult) => {
      busyTries.delete(outcome)
      metrics.countAttempts(outcome.delivered ? "DELIVERED" : outcome.isUncertain ? "LOST" : "FAILED")
      onRecorded(outcome)
    }

    /** Fails the integration before recording: its delivery is due at once and must not be sent before a resume. */
    const failIntegration = ({ integration, stopReason, tenant }: AttemptResult) =>
      stopReason === undefined ? Effect.void : integrations.fail(tenant, integration, stopReason)

    const retryWithBackoff = (outcome: AttemptResult) => {
      const tries = busyTries.get(outcome) ?? 0
      busyTries.set(outcome, tries + 1)
      const delay = Math.min(minBackoffMs * 2 ** tries, maxBackoffMs)
      fork(Effect.delay(Effect.asVoid(Queue.offer(finished, outcome)), delay))
    }

    const isStarved = (outcome: AttemptResult) => (busyTries.get(outcome) ?? 0) >= maxTriesWithoutWaiting

    const settleAll = (
      batch: ReadonlyArray<AttemptResult>,
      busy: ReadonlyArray<AttemptResult>,
      retry: (busy: Busy) => void
    ) => {
      const left = new Set(busy)
      for (const outcome of batch) if (!left.has(outcome)) settle(outcome)
      retry(busy)
    }

    const retryBusy = (busy: Busy) => {
      const [others, starved] = Array.partition(busy, isStarved)
      others.forEach(retryWithBackoff)
      const groups = Array.groupBy(starved, ({ integration, tenant }) => `${tenant} ${integration}`)
      for (const group of Object.values(groups)) fork(recordBlocking(group))
    }

    const recordAll = (batch: ReadonlyArray<AttemptResult>) =>
      Effect.map(outcomes.record(batch), (busy) => settleAll(batch, busy, retryBusy))

    /** Waits for the locks of one integration without delaying the main batch. */
    const recordBlocking = (group: ReadonlyArray<AttemptResult>): Effect.Effect<void> =>
      isolated
        .withPermits(1)(outcomes.record(group, true))
        .pipe(
          Effect.catchAllCause((cause) =>
            Effect.as(Effect.logDebug("Waiting for the locks of an integration timed out", cause), group)
          ),
          Effect.map((busy) => settleAll(group, busy, (left) => left.forEach(retryWithBackoff)))
        )

    const recordIsolated = (outcome: AttemptResult) =>
      failIntegration(outcome).pipe(
        Effect.zipRight(recordAll([outcome])),
        Effect.sandbox,
        Effect.tapError(warn),
        isolated.withPermits(1),
        Effect.retry(retrySchedule),
        Effect.orDie
      )

    /** Bisects a failing batch until the failing outcome is alone. Sorting separates the tenants first. */
    const bisect = (batch: ReadonlyArray<AttemptResult>): Effect.Effect<void> => {
      const [culprit, ...others] = batch
      if (culprit !== undefined && others.length === 0) return recordIsolated(culprit)
      const halves = Array.splitAt(
        Array.sortWith(batch, ({ integration, tenant }) => `${tenant} ${integration}`, Order.string),
        batch.length / 2
      )
      return Effect.forEach(halves, recordHalf, { concurrency: "unbounded", discard: true })
    }

    const recordHalf = (batch: ReadonlyArray<AttemptResult>) =>
      isolated
        .withPermits(1)(recordAll(batch))
        .pipe(Effect.catchAllCause(() => bisect(batch)))

    const recordBatch = (batch: ReadonlyArray<AttemptResult>): Effect.Effect<void> =>
      Effect.catchAllCause(recordAll(batch), (cause) =>
        isDatabaseDown(cause)
          ? Effect.zipRight(Effect.delay(warn(cause), "1 second"), recordBatch(batch))
          : Effect.as(warn(cause), void fork(bisect(batch)))
      )

    const record = Effect.gen(function* () {
      const [batch, isolatedOutcomes] = Array.partition(
        Chunk.toReadonlyArray(yield* Queue.takeBetween(finished, 1, maxBatchSize)),
        needsIsolation
      )
      for (const outcome of isolatedOutcomes) fork(recordIsolated(outcome))
      if (batch.length > 0) yield* recordBatch(batch)
    })

    yield* Effect.forkScoped(
      // It waits for the next result, and for PostgreSQL with the results that it has.
      runForever("Outcome recording", record, { stalledAfter: Duration.infinity })
    )
    return (outcome: AttemptResult) => Queue.offer(finished, outcome)
  })
