import type { IncomingMessage } from "node:http"
import { Duration, Effect } from "effect"
import { type ServiceUnavailable, TooManyRequests } from "../../../domain/Errors.ts"
import { callerKey, type Principal } from "../../../domain/tenancy/Caller.ts"
import { type FairLimits, makeFairSemaphore, type Refused } from "../../../layers/concurrency/FairSemaphore.ts"
import { toRequestError } from "../../../layers/concurrency/RequestRefusal.ts"
import { Settings } from "../../../layers/config/Settings.ts"
import { type RefusalReason, RequestMetrics } from "../pages/RequestMetrics.ts"
import { type Answer, failureAnswer } from "../response/Answer.ts"
import { PagedList } from "../response/Reply.ts"
import type { Identity } from "./Authorize.ts"
import { KeyedBudget } from "./KeyedBudget.ts"
import { addRateHeaders, RateLimit } from "./RateLimit.ts"
import type { Route } from "./Routes.ts"

export type AdmissionKeys = readonly [string, ...ReadonlyArray<string>]

/** Whom a request is charged to. A tracker's bearer names no caller, so its webhooks count for their tenant alone. */
export const keysOf = ({ principal, tenant }: Identity, { socket }: IncomingMessage): AdmissionKeys => {
  const owner = `tenant ${tenant}`
  if (principal !== undefined) return tenant === undefined ? [callerKey(principal)] : [callerKey(principal), owner]
  return [tenant === undefined ? `address ${socket.remoteAddress}` : owner]
}

/** One key leaves a part of the permits to others, so that slow work of one cannot hold them all. */
const shareOf = (permits: number) => Math.max(1, Math.floor(permits * 0.8))

/** Requests let in for each connection: few enough to be fair, and so many that a caller alone hardly waits. */
const requestsPerConnection = 4

const externalLimits = { permits: 64, maxPerKey: 8 }
/** An upload comes as slowly as its sender likes; it holds little memory and no connection. */
const uploadLimits = { permits: 1024, maxPerKey: 256 }

/** Whole lists that are being written, of one key and of all: each holds a page in memory. */
const listLimits = { maxPerKey: 8, max: 64 }
/** A list that has begun is not refused its next page while others are served before it. */
const pageWait = { isUnbounded: true, timeout: Duration.seconds(60) }
/** Writes that wait for their turn are not many: each has been let in. */
const writeWait = { isUnbounded: true }

const tooMany = failureAnswer(new TooManyRequests())

const reasonOf = (refused: Refused): RefusalReason => {
  if (refused._tag === "QueueTimeout") return "timeout"
  return refused.scope === "key" ? "queue" : "full"
}

const timeout = Duration.seconds(5)

/**
 * Lets requests to work, fairly by caller and tenant: a bounded number at a time, the rest in bounded queues. Reads and
 * writes wait in the same queue, so that neither of one caller's keeps the other from being served. Writes wait for each
 * other's locks as well, and so only as many are at work as leave connections to reads and to others. Requests that wait
 * for something other than the database have semaphores of their own.
 */
export const makeAdmission = Effect.gen(function* () {
  const { DATABASE_POOL, MAX_QUEUED_REQUESTS, MAX_QUEUED_REQUESTS_PER_CALLER, ...rates } = yield* Settings
  const metrics = yield* RequestMetrics
  const queues = { maxQueued: MAX_QUEUED_REQUESTS, maxQueuedPerKey: MAX_QUEUED_REQUESTS_PER_CALLER, timeout }
  const toFailure = (refused: Refused) => {
    metrics.refused(reasonOf(refused))
    return toRequestError(refused)
  }
  const make = (limits: Pick<FairLimits, "permits" | "maxPerKey">) =>
    makeFairSemaphore({ ...limits, ...queues }, toFailure)
  const share = shareOf(DATABASE_POOL)
  const database = make({
    permits: requestsPerConnection * DATABASE_POOL,
    maxPerKey: requestsPerConnection * share
  })
  const writes = make({ permits: DATABASE_POOL, maxPerKey: share })
  const external = make(externalLimits)
  const lists = new KeyedBudget(listLimits)
  const uploads = make(uploadLimits)
  const rateOf = (name: string, quota: number | undefined) =>
    quota === undefined ? undefined : new RateLimit(name, quota)
  const callerRate = rateOf("caller", rates.RATE_LIMIT_PER_CALLER)
  const tenantRate = rateOf("tenant", rates.RATE_LIMIT_PER_TENANT)
  metrics.watchQueue("database", database.queued)
  metrics.watchQueue("writes", writes.queued)
  metrics.watchQueue("external", external.queued)
  metrics.watchQueue("uploads", uploads.queued)

  const refuse = (reason: RefusalReason) => {
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

  /** A list whose further pages wait for their turn like requests, if its keys have not too many of these already. */
  const pagedInTurn = (keys: AdmissionKeys, list: PagedList<unknown>) => {
    const [key] = keys
    if (!lists.tryTake(key, 1)) return Effect.fail(refuse("lists"))
    return Effect.succeed(
      new PagedList(
        list.first,
        (after) => database.withPermit(keys, list.readPage(after), pageWait),
        Effect.sync(() => lists.giveBack(key, 1))
      )
    )
  }

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

    /** Does the work of a request when it is its turn. */
    admit: <A, E, R>(
      route: Route,
      keys: ReadonlyArray<string>,
      work: Effect.Effect<A, E, R>
    ): Effect.Effect<A, E | TooManyRequests | ServiceUnavailable, R> => {
      if (waitsElsewhere(route)) return (route.isStreamed ? uploads : external).withPermit(keys, work)
      return database.withPermit(keys, route.method === "GET" ? work : writes.withPermit(keys, work, writeWait))
    },

    /** The list of an answer, with its further pages admitted one by one. */
    admitPages: (
      keys: AdmissionKeys,
      answer: Answer,
      list: PagedList<unknown>
    ): Effect.Effect<Answer, TooManyRequests> => Effect.map(pagedInTurn(keys, list), (body) => ({ ...answer, body }))
  }
})

export type Admission = Effect.Effect.Success<typeof makeAdmission>
