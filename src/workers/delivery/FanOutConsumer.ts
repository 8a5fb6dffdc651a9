import { Cause, type Duration, Effect, Either, FiberSet } from "effect"
import type { JsMsg } from "nats"
import { type EventKey, FanOut, type FanOutLimits, fanOutLimits } from "../../layers/delivery/FanOut.ts"
import { Broker } from "../../layers/infra/nats/Broker.ts"
import { type BrokerError, callBroker } from "../../layers/infra/nats/BrokerError.ts"
import { isConnectionBroken, isLockTimeout } from "../../layers/infra/postgres/connection/TransientErrors.ts"
import { makeEventTraces } from "../../layers/infra/telemetry/EventTraces.ts"
import { decodeRowKey, nakWithBackoff } from "../BrokerMessages.ts"
import { runForever } from "../RunForever.ts"
import { makeTenantQueues, type TenantBatch } from "../TenantQueues.ts"
import { makeWakeSignal, type WakeSignal } from "../WakeSignal.ts"

interface Scan {
  readonly after: { readonly resource: string; readonly sequence: number }
  /** New events may precede the cursor, so the scan starts again after its last page. */
  readonly isStale: boolean
}

const scanStart = { resource: "", sequence: 0 }

const maxListedTenants = 500

/**
 * Tenants with pending events in the database that have no message in this process: their queue overflowed, their
 * fan-out failed, or the broker lost the messages. It reads their events in pages, ordered by resource.
 */
export const makeFanOutBacklog = Effect.map(FanOut, (store) => {
  const scans = new Map<string, Scan>()
  let lastTenant = ""

  const addTenant = (tenant: string) => {
    const scan = scans.get(tenant)
    scans.set(tenant, scan === undefined ? { after: scanStart, isStale: false } : { ...scan, isStale: true })
  }

  return {
    addTenant,

    /** Adds the next page of tenants with pending events. */
    scanTenants: Effect.map(
      Effect.suspend(() => store.listWaitingTenants(lastTenant, maxListedTenants)),
      (found) => {
        lastTenant = found.length < maxListedTenants ? "" : (found.at(-1)?.tenant ?? "")
        for (const { tenant } of found) addTenant(tenant)
      }
    ),

    /** Reads the next page of events of the first eligible tenant. */
    nextPage: (max: number, canRead: (tenant: string) => boolean): Effect.Effect<ReadonlyArray<EventKey>> =>
      Effect.gen(function* () {
        const found = [...scans].find(([tenant]) => canRead(tenant))
        if (found === undefined) return []
        const [tenant, scan] = found
        scans.delete(tenant)
        const page = yield* Effect.onError(store.listWaiting(tenant, scan.after, max), () =>
          Effect.sync(() => addTenant(tenant))
        )
        const last = page.length < max ? undefined : page.at(-1)
        if (last !== undefined) scans.set(tenant, { after: last, isStale: scan.isStale || scans.has(tenant) })
        else if (scan.isStale) addTenant(tenant)
        return page
      })
  }
})

const maxFetched = 500
const fetchTimeoutMs = 2000
const pollMillis = 500
const defaultSweepInterval = "5 seconds"

/** In-memory queue bounds: per tenant and in total. */
const maxQueuedPerTenant = 200
const maxQueued = 2000

const maxTenantsPerBatch = 100
/** Concurrent transactions for tenants whose events failed before. */
const maxIsolated = 2

interface QueuedEvent extends EventKey {
  /** Absent for an event that comes from the database. */
  readonly message?: JsMsg
  /** From the message: an event from the database is fanned out without a span. */
  readonly traceParent: string | null
}

/** The client returns an empty text for a missing header. */
const traceParentOf = ({ headers }: JsMsg) => headers?.get("traceparent") || null

const retryMessage = ({ message }: QueuedEvent) => {
  if (message !== undefined) nakWithBackoff(message)
}

/**
 * Consumes events from the broker and fans them out into deliveries, round-robin over the tenants. It splits a failing
 * batch by tenant, and bisects a tenant's batch, until the failing event is alone; that event is retried later.
 * Messages are only hints: the backlog finds lost and dropped events in the database.
 */
export const startFanOutConsumer = (
  wakeSignal: WakeSignal,
  limits: FanOutLimits = fanOutLimits,
  sweepInterval: Duration.DurationInput = defaultSweepInterval
) =>
  Effect.gen(function* () {
    const broker = yield* Broker
    const store = yield* FanOut
    const backlog = yield* makeFanOutBacklog
    const arrivals = yield* makeWakeSignal
    const queues = makeTenantQueues<QueuedEvent>(maxQueuedPerTenant)
    const fork = yield* FiberSet.makeRuntime<never, void, never>()
    const withIsolationPermit = (yield* Effect.makeSemaphore(maxIsolated)).withPermits(1)
    const suspectTenants = new Set<string>()
    const isolatedTenants = new Set<string>()
    const traces = yield* makeEventTraces
    const { events } = broker.names

    const enqueue = (message: JsMsg) =>
      Either.match(decodeRowKey(message.string()), {
        onLeft: () => message.term(), // malformed: redelivery would not help
        onRight: (key) => {
          if (queues.offer(key.tenant, { ...key, message, traceParent: traceParentOf(message) })) return
          message.ack()
          backlog.addTenant(key.tenant)
        }
      })

    /** Fetches messages for a bounded time. A new fetch each time survives restarts of the broker. */
    const fetch = Effect.gen(function* () {
      const capacity = maxQueued - queues.size()
      if (capacity <= 0) return yield* Effect.sleep("10 millis")
      const jetstream = yield* broker.jetstream
      yield* callBroker(async () => {
        const consumer = await jetstream.consumers.get(events.stream, events.fanOutConsumer)
        const messages = await consumer.fetch({ max_messages: Math.min(capacity, maxFetched), expires: fetchTimeoutMs })
        for await (const message of messages) {
          enqueue(message)
          arrivals.notify()
        }
      })
    })

    const fanOutBatches = (batches: ReadonlyArray<TenantBatch<QueuedEvent>>) =>
      Effect.map(
        traces.withSpans(
          batches.flatMap(({ items }) => items),
          "FanOut.fanOut",
          "consumer",
          (items) =>
            store.fanOut(
              items.map(({ id, tenant }) => ({ id, tenant })),
              limits
            )
        ),
        ({ done, deliveryCount, advancedTenants }) => {
          for (const { items, tenant } of batches) {
            const left = items.filter(({ id }) => !done.has(id))
            if (advancedTenants.has(tenant)) queues.requeue(tenant, left)
            else left.forEach(retryMessage)
            for (const { id, message } of items) if (done.has(id)) message?.ack()
          }
          if (deliveryCount > 0) wakeSignal.notify()
        }
      )

    /** Bisects the batch of one tenant. Returns whether every event succeeded. */
    const bisect = ({ items, tenant }: TenantBatch<QueuedEvent>): Effect.Effect<boolean> =>
      fanOutBatches([{ tenant, items }]).pipe(
        Effect.as(true),
        Effect.catchAllCause((cause) => {
          const error = Cause.squash(cause)
          if (items.length > 1 && !isConnectionBroken(error) && !isLockTimeout(error)) {
            const half = Math.ceil(items.length / 2)
            const parts = [items.slice(0, half), items.slice(half)]
            return Effect.map(
              Effect.forEach(parts, (part) => bisect({ tenant, items: part })),
              (results) => results.every((hasSucceeded) => hasSucceeded)
            )
          }
          items.forEach(retryMessage)
          const ids = items.map(({ id }) => id).join(", ")
          return Effect.as(Effect.logWarning(`Fan-out of events failed; retrying: ${ids}`, cause), false)
        })
      )

    const processIsolated = (batch: TenantBatch<QueuedEvent>) => {
      isolatedTenants.add(batch.tenant)
      fork(
        Effect.map(withIsolationPermit(bisect(batch)), (hasSucceeded) => {
          isolatedTenants.delete(batch.tenant)
          if (hasSucceeded) suspectTenants.delete(batch.tenant)
          arrivals.notify()
        })
      )
    }

    const processBatches = (batches: ReadonlyArray<TenantBatch<QueuedEvent>>) =>
      Effect.catchAllCause(fanOutBatches(batches), (cause) => {
        if (isConnectionBroken(Cause.squash(cause))) {
          for (const { items } of batches) items.forEach(retryMessage)
          return Effect.failCause(cause)
        }
        for (const batch of batches) {
          suspectTenants.add(batch.tenant)
          processIsolated(batch)
        }
        return Effect.logDebug("Fan-out of a batch failed; retrying each tenant alone", cause)
      })

    /** Queues the next backlog page of one tenant whose queue is empty. */
    const readBacklog = Effect.map(
      backlog.nextPage(maxQueuedPerTenant, (tenant) => !queues.hasItems(tenant) && !isolatedTenants.has(tenant)),
      (keys) => keys.filter((key) => queues.offer(key.tenant, { ...key, traceParent: null })).length > 0
    )

    const work = Effect.gen(function* () {
      const hasQueued = yield* readBacklog
      const batches = queues.take(maxTenantsPerBatch, limits.maxEvents, (tenant) => isolatedTenants.has(tenant))
      if (batches.length === 0) return hasQueued ? undefined : yield* arrivals.wait(pollMillis)
      batches.filter(({ tenant }) => suspectTenants.has(tenant)).forEach(processIsolated)
      const others = batches.filter(({ tenant }) => !suspectTenants.has(tenant))
      if (others.length > 0) yield* processBatches(others)
    })

    const scan = Effect.tap(backlog.scanTenants, () => Effect.sync(arrivals.notify))
    /** Without messages the database has the news. The relay declares a missing stream and publishes to it at once. */
    const scanDuringOutage = (error: BrokerError) =>
      error.hasCode("streamNotFound") || error.hasCode("consumerNotFound") ? Effect.void : scan
    const sweep = Effect.zipRight(scan, Effect.sleep(sweepInterval))

    yield* Effect.forkScoped(runForever("Event fan-out", work))
    yield* Effect.forkScoped(runForever("Event fetch", Effect.tapError(fetch, scanDuringOutage)))
    yield* Effect.forkScoped(runForever("Fan-out backlog sweep", sweep))
  })
