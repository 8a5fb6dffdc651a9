import { Duration, Effect, Record } from "effect"
import { type ServiceUnavailable, TooManyRequests } from "../../../domain/Errors.ts"
import { callerKey, type Principal } from "../../../domain/tenancy/RequestContext.ts"
import type { TenantId } from "../../../domain/tenancy/Tenant.ts"
import { standingRequests } from "../../../layers/infra/concurrency/FairQueues.ts"
import {
  type FairSemaphoreLimits,
  makeFairSemaphore,
  type PermitOwner
} from "../../../layers/infra/concurrency/FairSemaphore.ts"
import { Settings } from "../../../layers/infra/config/Settings.ts"
import { connectionShares } from "../../../layers/infra/postgres/connection/Pool.ts"
import { RequestMetrics } from "../pages/RequestMetrics.ts"
import { PagedList } from "../response/HandlerResult.ts"
import { errorResponse, type HttpResponse } from "../response/HttpResponse.ts"
import { addressKey } from "./ClientAddress.ts"
import { addRateLimitHeaders, RateLimit } from "./RateLimit.ts"
import type { Route } from "./Routes.ts"

/** The caller and the tenant whose limits a request counts against. */
interface LimitSubject {
  readonly principal: Principal["Type"] | undefined
  readonly tenant: TenantId | undefined
}

/** The keys that a request's limits count under. A tracker's token names no caller, so only the tenant counts. */
export const limitKeysOf = ({ principal, tenant }: LimitSubject, address: () => string): ReadonlyArray<string> => {
  const tenantKey = `tenant ${tenant}`
  if (principal !== undefined) return tenant === undefined ? [callerKey(principal)] : [callerKey(principal), tenantKey]
  return [tenant === undefined ? addressKey(address()) : tenantKey]
}

/** Few enough admitted requests per connection to be fair, and enough that a single caller rarely waits. */
const requestsPerConnection = 4

/** A request that waits for a connection keeps its permit, so permits are shared as connections are. */
const databaseLimits = (connections: number) => {
  const { maxPerGroup, maxPerKey, permits } = connectionShares(connections)
  return Record.map({ maxPerGroup, maxPerKey, permits }, (share) => share * requestsPerConnection)
}

/** As long as a document may render: a thread that renders loads first, and on a busy host that takes seconds. */
const externalLimits = { permits: 64, maxPerKey: 8, timeout: Duration.seconds(30) }
/** With an Idempotency-Key, an external request keeps its transaction's connection while it waits for the provider. */
const externalTransactionLimits = (connections: number) => ({
  permits: Math.max(1, Math.floor(connections * 0.3)),
  maxPerKey: 1
})
/** An upload is as slow as its client. It takes little memory and no database connection. */
const uploadLimits = { permits: 1024, maxPerKey: 256 }

/** For what leaves most connections to the rest of the API. */
export const sideLimits = (connections: number) => {
  const permits = Math.max(2, Math.floor(connections * 0.3))
  return { permits, maxPerKey: permits - 1 }
}
/** A started list is not rejected because the queue is full: its next page waits. */
const pageWait = { isUnbounded: true, timeout: Duration.seconds(60) }

const tooManyRequests = errorResponse(new TooManyRequests())

export const queueTimeout = Duration.seconds(5)

/**
 * Counts the requests of each caller that have arrived and do not ask for admission yet. Without it, a burst would pass
 * the early check as a whole, and be rejected only after authorization and after its bodies are read.
 */
export class Arrivals {
  readonly #counts = new Map<string, number>()

  countOf(key: string) {
    return this.#counts.get(key) ?? 0
  }

  /** Returns the function that removes the request again. Only its first call has an effect. */
  add(key: string) {
    this.#counts.set(key, this.countOf(key) + 1)
    let isCounted = true
    return () => {
      if (!isCounted) return
      isCounted = false
      const count = this.countOf(key) - 1
      if (count === 0) this.#counts.delete(key)
      else this.#counts.set(key, count)
    }
  }
}

type OwnLimits = Pick<FairSemaphoreLimits, "permits" | "maxPerKey" | "maxPerGroup"> & Partial<FairSemaphoreLimits>

type FairSemaphore = ReturnType<typeof makeFairSemaphore<TooManyRequests | ServiceUnavailable>>

/** A request that asks for admission. */
interface Candidate {
  readonly keys: ReadonlyArray<string>
  readonly owner: PermitOwner
  /** Whether the whole work runs in one transaction, and so keeps a connection. */
  readonly isInTransaction: boolean
}

const runWithPermit = <A, E, R>(
  semaphore: FairSemaphore,
  { keys, owner }: Candidate,
  work: () => Effect.Effect<A, E, R>
): Effect.Effect<A, E | TooManyRequests | ServiceUnavailable, R> => {
  const wait = semaphore.acquire(keys, owner)
  return wait === undefined ? work() : Effect.flatMap(wait, work)
}

/**
 * Admits a bounded number of requests at a time, fairly by caller and tenant; the rest wait in bounded queues. Reads
 * and writes share one queue, so that a caller's reads and writes cannot starve each other. The statements of admitted
 * requests share the connections in the same way (see the pool). Requests that wait for something other than the database
 * have their own semaphores.
 */
export const makeAdmission = Effect.gen(function* () {
  const { DATABASE_POOL, MAX_QUEUED_REQUESTS, MAX_QUEUED_REQUESTS_PER_CALLER, ...rates } = yield* Settings
  const metrics = yield* RequestMetrics
  const queueLimits = {
    maxQueued: MAX_QUEUED_REQUESTS,
    maxQueuedPerKey: MAX_QUEUED_REQUESTS_PER_CALLER,
    standing: standingRequests,
    timeout: queueTimeout
  }
  const makeSemaphore = (queue: string, limits: OwnLimits) => {
    const semaphore = makeFairSemaphore({ ...queueLimits, ...limits }, metrics.makeReject(queue))
    metrics.registerQueue(queue, semaphore)
    return semaphore
  }
  const database = makeSemaphore("database", databaseLimits(DATABASE_POOL))
  // Reading and writing a page of a long list takes milliseconds of the event loop, so few are read at a time.
  const pages = makeSemaphore("lists", sideLimits(DATABASE_POOL))
  const external = makeSemaphore("external", externalLimits)
  const externalInTransaction = makeSemaphore("external in transactions", externalTransactionLimits(DATABASE_POOL))
  const uploads = makeSemaphore("uploads", uploadLimits)
  const arrivals = new Arrivals()
  const makeRateLimit = (name: string, quota: number | undefined) =>
    quota === undefined ? undefined : new RateLimit(name, quota)
  const callerRateLimit = makeRateLimit("caller", rates.RATE_LIMIT_PER_CALLER)
  const tenantRateLimit = makeRateLimit("tenant", rates.RATE_LIMIT_PER_TENANT)

  const reject = (reason: "rate" | "queue") => {
    metrics.countRejection(reason)
    return new TooManyRequests()
  }

  const checkRateLimit = (rateLimit: RateLimit | undefined, key: string, headers: Record<string, string>) => {
    if (rateLimit === undefined) return undefined
    const state = rateLimit.take(key, Date.now())
    addRateLimitHeaders(headers, rateLimit, state)
    return state.isAllowed ? undefined : reject("rate")
  }

  const bypassesDatabaseQueue = ({ isExternal, isStreamedUpload }: Route) => isExternal || isStreamedUpload

  return {
    /**
     * The 429 for a caller whose queue is full, if a cached token identifies the caller. Under overload most requests
     * end here, so this path must be cheap. `onArrival` gets a function for each other request of such a caller: run it
     * when the request asks for admission, or ends before. With few requests in progress no queue can be full, and
     * looking for the caller would cost more than the rest of this check.
     */
    rejectIfQueueFull: (
      route: Route,
      findPrincipal: () => Principal["Type"] | undefined,
      onArrival: (leave: () => void) => void
    ): HttpResponse | undefined => {
      if (
        metrics.requestsInFlight() <= MAX_QUEUED_REQUESTS_PER_CALLER / 2 ||
        database.queued() === 0 ||
        callerRateLimit !== undefined ||
        bypassesDatabaseQueue(route)
      ) {
        return undefined
      }
      const principal = findPrincipal()
      if (principal === undefined) return undefined
      const key = callerKey(principal)
      if (!database.isQueueFull(key, arrivals.countOf(key))) {
        onArrival(arrivals.add(key))
        return undefined
      }
      metrics.countRejection("queue")
      return tooManyRequests
    },

    /** Returns the error if the caller's queue is full or its rate limit is exceeded, before any lookup. */
    checkCallerLimits: (principal: Principal["Type"], headers: Record<string, string>) => {
      const key = callerKey(principal)
      return database.isQueueFull(key) ? reject("queue") : checkRateLimit(callerRateLimit, key, headers)
    },

    /** Returns the error if the tenant's rate limit is exceeded. */
    checkTenantRate: ({ tenant }: LimitSubject, headers: Record<string, string>) =>
      tenant === undefined ? undefined : checkRateLimit(tenantRateLimit, tenant, headers),

    /** Runs the work of a request as soon as it gets its permits. */
    admit: <A, E, R>(
      { isExternal, isStreamedUpload }: Route,
      candidate: Candidate,
      work: () => Effect.Effect<A, E, R>
    ): Effect.Effect<A, E | TooManyRequests | ServiceUnavailable, R> => {
      if (isStreamedUpload) return runWithPermit(uploads, candidate, work)
      if (!isExternal) return runWithPermit(database, candidate, work)
      return runWithPermit(external, candidate, () =>
        candidate.isInTransaction ? runWithPermit(externalInTransaction, candidate, work) : work()
      )
    },

    /** Reads the further pages of long lists in turns. */
    admitPages: <A>(keys: ReadonlyArray<string>, { first, framing, readPage }: PagedList<A>) =>
      new PagedList(first, (after) => pages.withPermit(keys, readPage(after), pageWait), framing)
  }
})

export type Admission = Effect.Effect.Success<typeof makeAdmission>
