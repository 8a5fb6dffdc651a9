import { Duration, Effect } from "effect"
import { type ServiceUnavailable, TooManyRequests } from "../../../domain/Errors.ts"
import { callerKey, type Principal } from "../../../domain/tenancy/Caller.ts"
import { type FairLimits, makeFairSemaphore, type WaitOptions } from "../../../layers/concurrency/FairSemaphore.ts"
import { Settings } from "../../../layers/config/Settings.ts"
import { RequestMetrics } from "../pages/RequestMetrics.ts"
import { type Answer, failureAnswer } from "../response/Answer.ts"
import { PagedList } from "../response/Reply.ts"
import type { Identity } from "./Authorize.ts"
import { addRateHeaders, RateLimit } from "./RateLimit.ts"
import type { Route } from "./Routes.ts"

/** Whom a request is charged to. A tracker's bearer names no caller, so its webhooks count for their tenant alone. */
export const keysOf = ({ principal, tenant }: Identity, address: () => string): ReadonlyArray<string> => {
  const owner = `tenant ${tenant}`
  if (principal !== undefined) return tenant === undefined ? [callerKey(principal)] : [callerKey(principal), owner]
  return [tenant === undefined ? `address ${address()}` : owner]
}

/** One key leaves a part of the permits to others, so that slow work of one cannot hold them all. */
const shareOf = (permits: number) => Math.max(1, Math.floor(permits * 0.8))

/** Requests let in for each connection: few enough to be fair, and so many that a caller alone hardly waits. */
const requestsPerConnection = 4

const externalLimits = { permits: 64, maxPerKey: 8 }
/** With an Idempotency-Key they hold a connection while they wait for others. */
const externalTransactionLimits = (connections: number) => ({
  permits: Math.max(1, Math.floor(connections * 0.3)),
  maxPerKey: 1
})
/** An upload comes as slowly as its sender likes; it holds little memory and no connection. */
const uploadLimits = { permits: 1024, maxPerKey: 256 }

/** A list that has begun is not refused its next page while others are served before it. */
const pageWait = { isUnbounded: true, timeout: Duration.seconds(60) }
/** Those that wait for their turn are not many: each has been let in. */
const transactionWait = { isUnbounded: true }

const tooMany = failureAnswer(new TooManyRequests())

const timeout = Duration.seconds(5)

type FairSemaphore = ReturnType<typeof makeFairSemaphore<TooManyRequests | ServiceUnavailable>>

/** A request that wants to be let in. */
interface Candidate {
  readonly keys: ReadonlyArray<string>
  /** Has something done when the request ends, however it does. */
  readonly onEnd: (done: () => void) => void
  /** Whether the work holds a connection from its beginning to its end. */
  readonly isInTransaction: boolean
}

const withPermitOf = <A, E, R>(
  semaphore: FairSemaphore,
  { keys, onEnd }: Candidate,
  work: Effect.Effect<A, E, R>,
  options?: WaitOptions
): Effect.Effect<A, E | TooManyRequests | ServiceUnavailable, R> => {
  const wait = semaphore.acquire(keys, onEnd, options)
  return wait === undefined ? work : Effect.zipRight(wait, work)
}

/**
 * Lets requests to work, fairly by caller and tenant: a bounded number at a time, the rest in bounded queues. Reads and
 * writes wait in the same queue, so that neither of one caller's keeps the other from being served. Writes wait for each
 * other's locks and long reads take many statements: of these only as many are at work as leave connections to short
 * reads and to others. Requests that wait for something other than the database have semaphores of their own.
 */
export const makeAdmission = Effect.gen(function* () {
  const { DATABASE_POOL, MAX_QUEUED_REQUESTS, MAX_QUEUED_REQUESTS_PER_CALLER, ...rates } = yield* Settings
  const metrics = yield* RequestMetrics
  const queues = { maxQueued: MAX_QUEUED_REQUESTS, maxQueuedPerKey: MAX_QUEUED_REQUESTS_PER_CALLER, timeout }
  const make = (limits: Pick<FairLimits, "permits" | "maxPerKey">) =>
    makeFairSemaphore({ ...limits, ...queues }, (refused) => metrics.refuse(refused))
  const share = shareOf(DATABASE_POOL)
  const database = make({
    permits: requestsPerConnection * DATABASE_POOL,
    maxPerKey: requestsPerConnection * share
  })
  const transactions = make({ permits: DATABASE_POOL, maxPerKey: share })
  const external = make(externalLimits)
  const externalInTransaction = make(externalTransactionLimits(DATABASE_POOL))
  const uploads = make(uploadLimits)
  const rateOf = (name: string, quota: number | undefined) =>
    quota === undefined ? undefined : new RateLimit(name, quota)
  const callerRate = rateOf("caller", rates.RATE_LIMIT_PER_CALLER)
  const tenantRate = rateOf("tenant", rates.RATE_LIMIT_PER_TENANT)
  metrics.watchQueue("database", database.queued)
  metrics.watchQueue("writes", transactions.queued)
  metrics.watchQueue("external", external.queued)
  metrics.watchQueue("uploads", uploads.queued)

  const refuse = (reason: "rate" | "queue") => {
    metrics.refused(reason)
    return new TooManyRequests()
  }

  const refusalByRate = (rate: RateLimit | undefined, key: string, headers: Record<string, string>) => {
    if (rate === undefined) return undefined
    const state = rate.take(key, Date.now())
    addRateHeaders(headers, rate, state)
    return state.isAllowed ? undefined : refuse("rate")
  }

  const waitsElsewhere = ({ isExternal, isStreamed }: Route) => isExternal || isStreamed

  return {
    /**
     * The answer to a caller whose queue is full, if that can be told at once: when far too many requests come, most are
     * these, and they must cost next to nothing.
     */
    turnAway: (route: Route, callerOf: () => Principal["Type"] | undefined): Answer | undefined => {
      if (database.queued() < MAX_QUEUED_REQUESTS_PER_CALLER || callerRate !== undefined || waitsElsewhere(route)) {
        return undefined
      }
      const principal = callerOf()
      if (principal === undefined || !database.isQueueFull(callerKey(principal))) return undefined
      metrics.refused("queue")
      return tooMany
    },

    /** Why a caller is turned away before anything is looked up, when that is all it would come to. */
    refusalOf: (principal: Principal["Type"], headers: Record<string, string>) => {
      const key = callerKey(principal)
      return database.isQueueFull(key) ? refuse("queue") : refusalByRate(callerRate, key, headers)
    },

    /** Why nothing more is done for a tenant in this minute. */
    refusalInTenant: ({ tenant }: Identity, headers: Record<string, string>) =>
      tenant === undefined ? undefined : refusalByRate(tenantRate, tenant, headers),

    /** Does the work of a request when it is its turn. To be called when the work could begin. */
    admit: <A, E, R>(
      { isExternal, isLongRead, isStreamed, method }: Route,
      candidate: Candidate,
      work: Effect.Effect<A, E, R>
    ): Effect.Effect<A, E | TooManyRequests | ServiceUnavailable, R> => {
      const admitted = (semaphore: FairSemaphore, work: Effect.Effect<A, E, R>, options?: WaitOptions) =>
        withPermitOf(semaphore, candidate, work, options)
      if (isStreamed) return admitted(uploads, work)
      if (isExternal) {
        const { isInTransaction } = candidate
        return withPermitOf(
          external,
          candidate,
          isInTransaction ? Effect.suspend(() => admitted(externalInTransaction, work)) : work
        )
      }
      if (method === "GET" && !isLongRead) return admitted(database, work)
      return withPermitOf(
        database,
        candidate,
        Effect.suspend(() => admitted(transactions, work, transactionWait))
      )
    },

    /** A list whose further pages wait for their turn like requests. */
    admitPages: <A>(keys: ReadonlyArray<string>, { first, readPage }: PagedList<A>) =>
      new PagedList(first, (after) => database.withPermit(keys, readPage(after), pageWait))
  }
})

export type Admission = Effect.Effect.Success<typeof makeAdmission>
