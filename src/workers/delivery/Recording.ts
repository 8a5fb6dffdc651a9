import { SqlError } from "@effect/sql/SqlError"
import { Array, Cause, Chunk, Effect, FiberSet, Order, Queue, Schedule } from "effect"
import { type Outcome, Outcomes } from "../../layers/delivery/Outcomes.ts"
import { Integrations } from "../../layers/integrations/Integrations.ts"
import { isLost } from "../../layers/postgres/connection/Outage.ts"
import { DeliveryMetrics } from "../../layers/telemetry/DeliveryMetrics.ts"
import { forEver } from "../ForEver.ts"

const maxInBatch = 200
/** Statements at a time for outcomes that could not be recorded with all the others. */
const maxIsolated = 3
/** Between two tries to record what somebody else has locked. */
const minBusyMillis = 10
const maxBusyMillis = 250

/** After so many tries it waits in the queue for the lock: others may take it as soon as it is free, over and over. */
const maxBusyTries = 5

const backoff = Schedule.union(Schedule.exponential("1 second"), Schedule.spaced("30 seconds"))

type Busy = ReadonlyArray<Outcome>

/** The database is away: no part of a batch would fare better than the whole. */
const isDatabaseAway = (cause: Cause.Cause<unknown>) => {
  const error = Cause.squash(cause)
  return error instanceof SqlError && isLost(error.cause)
}

/**
 * Records what came of attempts, and tells when it is recorded. An outcome is kept until then, whatever happens: what
 * was sent must not get lost. One that cannot be recorded keeps no other waiting.
 */
export const makeRecording = (onRecorded: (outcome: Outcome) => void) =>
  Effect.gen(function* () {
    const outcomes = yield* Outcomes
    const integrations = yield* Integrations
    const metrics = yield* DeliveryMetrics
    const finished = yield* Queue.unbounded<Outcome>()
    const fork = yield* FiberSet.makeRuntime<never, void, never>()
    const isolated = yield* Effect.makeSemaphore(maxIsolated)
    const busyTries = new Map<Outcome, number>()

    const warn = (cause: Cause.Cause<unknown>) =>
      Effect.logWarning("Outcomes could not be recorded; it is tried again", cause)

    const settled = (outcome: Outcome) => {
      busyTries.delete(outcome)
      metrics.attempted(outcome.delivered ? "DELIVERED" : "FAILED")
      onRecorded(outcome)
    }

    /** The integration stops first: what is due at once when it is resumed must not be due while it goes on. */
    const stop = ({ integration, stop, tenant }: Outcome) =>
      stop === undefined ? Effect.void : integrations.fail(tenant, integration, stop)

    const tryLater = (outcome: Outcome) => {
      const tries = busyTries.get(outcome) ?? 0
      busyTries.set(outcome, tries + 1)
      const delay = Math.min(minBusyMillis * 2 ** tries, maxBusyMillis)
      fork(Effect.delay(Effect.asVoid(Queue.offer(finished, outcome)), delay))
    }

    const isStarved = (outcome: Outcome) => (busyTries.get(outcome) ?? 0) >= maxBusyTries

    const settleAll = (batch: ReadonlyArray<Outcome>, busy: ReadonlyArray<Outcome>, retry: (busy: Busy) => void) => {
      const left = new Set(busy)
      for (const outcome of batch) if (!left.has(outcome)) settled(outcome)
      retry(busy)
    }

    const retryOrWait = (busy: Busy) => {
      const [others, starved] = Array.partition(busy, isStarved)
      others.forEach(tryLater)
      const groups = Array.groupBy(starved, ({ integration, tenant }) => `${tenant} ${integration}`)
      for (const group of Object.values(groups)) fork(recordWaiting(group))
    }

    const recordTogether = (batch: ReadonlyArray<Outcome>) =>
      Effect.map(outcomes.record(batch), (busy) => settleAll(batch, busy, retryOrWait))

    /** Waits for the locks of one integration, beside the others. */
    const recordWaiting = (group: ReadonlyArray<Outcome>): Effect.Effect<void> =>
      isolated
        .withPermits(1)(outcomes.record(group, true))
        .pipe(
          Effect.catchAllCause((cause) => Effect.as(Effect.logDebug("The lock was not free in time", cause), group)),
          Effect.map((busy) => settleAll(group, busy, (left) => left.forEach(tryLater)))
        )

    const recordAlone = (outcome: Outcome) =>
      stop(outcome).pipe(
        Effect.zipRight(recordTogether([outcome])),
        Effect.sandbox,
        Effect.tapError(warn),
        isolated.withPermits(1),
        Effect.retry(backoff),
        Effect.orDie
      )

    /** Splits a batch that the database refused until the culprit is alone. In the order of tenants, these part first. */
    const isolate = (batch: ReadonlyArray<Outcome>): Effect.Effect<void> => {
      const [culprit, ...others] = batch
      if (culprit !== undefined && others.length === 0) return recordAlone(culprit)
      const halves = Array.splitAt(
        Array.sortWith(batch, ({ integration, tenant }) => `${tenant} ${integration}`, Order.string),
        batch.length / 2
      )
      return Effect.forEach(halves, recordHalf, { concurrency: "unbounded", discard: true })
    }

    const recordHalf = (batch: ReadonlyArray<Outcome>) =>
      isolated
        .withPermits(1)(recordTogether(batch))
        .pipe(Effect.catchAllCause(() => isolate(batch)))

    const recordBatch = (batch: ReadonlyArray<Outcome>): Effect.Effect<void> =>
      Effect.catchAllCause(recordTogether(batch), (cause) =>
        isDatabaseAway(cause)
          ? Effect.zipRight(Effect.delay(warn(cause), "1 second"), recordBatch(batch))
          : Effect.as(warn(cause), void fork(isolate(batch)))
      )

    const record = Effect.gen(function* () {
      const [together, stopping] = Array.partition(
        Chunk.toReadonlyArray(yield* Queue.takeBetween(finished, 1, maxInBatch)),
        ({ stop }) => stop !== undefined
      )
      for (const outcome of stopping) fork(recordAlone(outcome))
      if (together.length > 0) yield* recordBatch(together)
    })

    yield* Effect.forkScoped(forEver("Recording", record))
    return (outcome: Outcome) => Queue.offer(finished, outcome)
  })
