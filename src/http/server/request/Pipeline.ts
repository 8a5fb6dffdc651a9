import type { IncomingMessage } from "node:http"
import { Cause, Context, Effect, Either, FiberRef, Option, Stream } from "effect"
import {
  type ApiError,
  type PayloadTooLarge,
  ServiceUnavailable,
  type TooManyRequests
} from "../../../domain/Errors.ts"
import type { PagePosition } from "../../../domain/Paging.ts"
import { IfMatch, type RequestServices } from "../../../domain/tenancy/RequestContext.ts"
import { TokenVerifier } from "../../../layers/infra/auth/TokenVerifier.ts"
import { yieldIfLongText } from "../../../layers/infra/concurrency/EventLoop.ts"
import { KeyedBudget } from "../../../layers/infra/concurrency/KeyedBudget.ts"
import { Settings } from "../../../layers/infra/config/Settings.ts"
import { Broker } from "../../../layers/infra/nats/Broker.ts"
import { RequestMetrics } from "../pages/RequestMetrics.ts"
import { prefersCsv, toCsvResponse } from "../response/Csv.ts"
import { HandlerResult, PagedList } from "../response/HandlerResult.ts"
import { type HttpResponse, parseEntityTags, toHttpResponse } from "../response/HttpResponse.ts"
import type { ResponseLimits } from "../response/ResponseLimits.ts"
import { toWireError } from "../response/WireErrors.ts"
import { limitKeysOf, makeAdmission } from "./Admission.ts"
import { bearerTokenOf, type DeferredCheck, type Identity, makeAuthorizer } from "./Authorizer.ts"
import { discardBody, parseJsonBody, readBody, streamBody } from "./Body.ts"
import { makeClientAddress } from "./ClientAddress.ts"
import { hasIdempotencyKey, makeIdempotency } from "./Idempotency.ts"
import type { RequestState } from "./RequestState.ts"
import type { Route } from "./Routes.ts"
import { andThen } from "./Steps.ts"

const emptyBuffer = Buffer.alloc(0)

/** Bytes of bodies in memory, while they arrive and while they wait. Decoded they take about ten times as much. */
const bodyMemoryLimits = { maxPerKey: 32 * 1024 * 1024, max: 256 * 1024 * 1024 }

const emptyUpload = { bytes: Stream.empty, size: 0 }

const contentLengthOf = ({ headers }: IncomingMessage) =>
  headers["content-length"] === undefined ? undefined : Number(headers["content-length"])

/** The most bytes a body can have: its Content-Length, the limit for a chunked body, or none without either header. */
const maxSizeOf = (request: IncomingMessage, maxBytes: number) =>
  Math.min(contentLengthOf(request) ?? (request.headers["transfer-encoding"] === undefined ? 0 : maxBytes), maxBytes)

/** A larger body costs more to read for nothing than a look-up of the member. */
const maxDeferredBytes = 16 * 1024

/** Whether the server can check the member with the first statement. With an Idempotency-Key, that is not the handler's. */
const canDeferCheck = (route: Route, request: IncomingMessage) =>
  route.startsWithStatement &&
  !route.isExternal &&
  !hasIdempotencyKey(request) &&
  maxSizeOf(request, route.maxBodyBytes) <= maxDeferredBytes

/** Whether the response is the whole list, which may be written page by page. */
const isWhole = ({ csv, isWholeList }: Route, request: IncomingMessage) =>
  isWholeList || (csv !== undefined && prefersCsv(request))

/** Turns a 500 into a 503, so that the sender retries. */
const toRetryable = (cause: Cause.Cause<ApiError>) =>
  Effect.flatMap(toWireError(cause), (error) =>
    Effect.fail(error._tag === "InternalError" ? new ServiceUnavailable() : error)
  )

/**
 * Runs a request whose first statement has the server check the member. If it ends without that, it looks the member up
 * first: nobody else learns whether a request to a tenant was right.
 */
const settleCheck = (
  share: RequestState["share"],
  { check, guard }: DeferredCheck,
  run: () => Effect.Effect<HttpResponse, ApiError>
) => {
  share.guard = guard
  const checkNow = () => {
    share.guard = undefined
    return check()
  }
  return Effect.matchCauseEffect(run(), {
    onSuccess: (response) => (guard.state === "confirmed" ? Effect.succeed(response) : Effect.as(checkNow(), response)),
    onFailure: (cause) => {
      if (guard.state === "confirmed" || Cause.isInterruptedOnly(cause)) return Effect.failCause(cause)
      // The caller can have become a member again meanwhile.
      const failure = guard.state === "rejected" ? Effect.fail(new ServiceUnavailable()) : Effect.failCause(cause)
      return Effect.zipRight(checkNow(), failure)
    }
  })
}

/** How to read the pages after that of a handler's result, if there are any. */
const restOf = (result: unknown, services: Context.Context<RequestServices>) => {
  const { next, readPage } = result instanceof HandlerResult ? result : new HandlerResult(result)
  return readPage === undefined
    ? undefined
    : { next, readPage: (after: PagePosition) => Effect.provide(readPage(after), services) }
}

/**
 * Provides services to the rest of the request: its fiber starts with them, or gets them. `Effect.provide` takes them back
 * behind the work, at several times the cost, and a fiber serves one request.
 */
const runWith = <A, E, R>(call: RequestState, services: Context.Context<R>, work: Effect.Effect<A, E, R>) => {
  const provided = work as Effect.Effect<A, E> // the context of the fiber has what it requires
  if (!call.hasFiber) {
    call.services = services
    return provided
  }
  return Effect.zipRight(
    FiberRef.update(FiberRef.currentContext, (context) => Context.merge(context, services)),
    provided
  )
}

/** Runs every operation: authorization, path, body, idempotency, handler, response. */
export const makePipeline = Effect.fnUntraced(function* (responseLimits: ResponseLimits) {
  const { NODE_ENV, TRUSTED_PROXIES } = yield* Settings
  const isProduction = NODE_ENV === "production"
  const clientAddress = makeClientAddress(TRUSTED_PROXIES)
  const admission = yield* makeAdmission
  const authorize = yield* makeAuthorizer(admission)
  const runOnce = yield* makeIdempotency
  const metrics = yield* RequestMetrics
  const tokens = yield* TokenVerifier
  const bodyBudget = new KeyedBudget(bodyMemoryLimits)
  const rejectBody = metrics.makeReject("memory of bodies", "memory")
  const { wake } = yield* Broker
  const wakeRelay = (response: HttpResponse) => {
    wake()
    return Effect.succeed(response)
  }

  const toResponse = (
    route: Route,
    { request, share }: RequestState,
    services: Context.Context<RequestServices>,
    result: unknown
  ): Effect.Effect<HttpResponse> => {
    const response = toHttpResponse(request, route.status, result)
    return andThen(yieldIfLongText(response.body), () => {
      if (!isProduction && response.status === route.status) {
        const mismatch = route.checkResponse(response)
        if (Option.isSome(mismatch)) return Effect.die(mismatch.value)
      }
      const formatted =
        route.csv !== undefined && response.status === route.status && prefersCsv(request)
          ? toCsvResponse(route.csv, response, restOf(result, services))
          : response
      return Effect.succeed(
        formatted.body instanceof PagedList
          ? { ...formatted, body: admission.admitPages(share.keys, formatted.body) }
          : formatted
      )
    })
  }

  const runHandler = (route: Route, call: RequestState, identity: Identity, path: unknown, bytes: Buffer) => {
    const { request } = call
    const services = Context.add(identity.services, IfMatch, parseEntityTags(request.headers["if-match"]))
    const runDecoded = (body: unknown) =>
      andThen(route.decodeRest(request.url ?? "", request.headers, body), ({ headers, payload, query }) => {
        const upload = route.isStreamedUpload
          ? { bytes: streamBody(request, route.maxBodyBytes), size: contentLengthOf(request) }
          : emptyUpload
        const result = runWith(call, services, route.run({ path, query, headers, payload, bytes, upload }))
        return Effect.flatMap(result, (value) => toResponse(route, call, services, value))
      })
    return route.hasPayload && !route.isStreamedUpload
      ? andThen(parseJsonBody(request, bytes), runDecoded)
      : runDecoded(undefined)
  }

  /** Reads the whole body for `work`, within the memory budget of the request's keys. */
  const withBody = <A, E>(
    { maxBodyBytes }: Route,
    call: RequestState,
    work: (bytes: Buffer) => Effect.Effect<A, E>
  ): Effect.Effect<A, E | PayloadTooLarge | TooManyRequests | ServiceUnavailable> => {
    const { request } = call
    const { keys } = call.share
    const size = maxSizeOf(request, maxBodyBytes)
    const full = bodyBudget.rejectionFor(keys, size)
    if (full !== undefined) return Effect.fail(rejectBody(full))
    bodyBudget.acquire(keys, size)
    call.onEnd(() => bodyBudget.release(keys, size))
    return Effect.flatMap(readBody(request, maxBodyBytes), work)
  }

  const runAuthorized = (
    route: Route,
    call: RequestState,
    identity: Identity
  ): Effect.Effect<HttpResponse, ApiError> => {
    const { params, request, responseHeaders } = call
    const keys = limitKeysOf(identity, () => clientAddress(request))
    call.identity = identity
    call.share.keys = keys
    const rejection =
      admission.checkTenantRate(identity, responseHeaders) ??
      responseLimits.checkUnread(keys) ??
      // Not by caller: of a caller's other tenants the lists may be short, and these are never limited.
      (isWhole(route, request) ? responseLimits.checkLimited("lists", keys.slice(-1)) : undefined)
    if (rejection !== undefined) return Effect.fail(rejection)
    const path = route.decodePath(params)
    if (Either.isLeft(path)) return Effect.fail(path.left)
    const runAdmitted = (bytes: Buffer) => {
      call.onAdmission?.()
      return admission.admit(route, { keys, owner: call, isInTransaction: hasIdempotencyKey(request) }, () =>
        runOnce(request, route.name, identity, bytes, () => runHandler(route, call, identity, path.right, bytes))
      )
    }
    const isGet = request.method === "GET" || request.method === "HEAD"
    if (isGet && !route.isUnsafeGet) return runAdmitted(emptyBuffer)
    const run = isGet || route.isStreamedUpload ? runAdmitted(emptyBuffer) : withBody(route, call, runAdmitted)
    return route.hasNoEvents ? run : Effect.flatMap(run, wakeRelay)
  }

  const runRoute = (route: Route, call: RequestState): Effect.Effect<HttpResponse, ApiError> => {
    const { params, request, responseHeaders } = call
    const { headers } = request
    const canDefer = canDeferCheck(route, request)
    const { startsWithStatement } = route
    return andThen(
      authorize(route.access, { headers, params, responseHeaders, canDefer, startsWithStatement }),
      (identity) => {
        const run = () => runAuthorized(route, call, identity)
        return identity.deferred === undefined ? run() : settleCheck(call.share, identity.deferred, run)
      }
    )
  }

  return {
    /** The response to a request that is rejected before any work starts, if it is. */
    rejectEarly: (route: Route, call: RequestState) => {
      const findPrincipal = () => {
        const token = bearerTokenOf(call.request.headers.authorization)
        return token === undefined ? undefined : tokens.findCached(token)
      }
      return admission.rejectIfQueueFull(route, findPrincipal, (leave) => {
        call.onAdmission = leave
        call.onEnd(leave)
      })
    },

    run: (route: Route, call: RequestState) => {
      const response = runRoute(route, call)
      if (route.isRetriedBySender) return Effect.catchAllCause(response, toRetryable)
      return route.isStreamedUpload ? Effect.tapErrorCause(response, () => discardBody(call.request)) : response
    }
  }
})

export type Pipeline = Effect.Effect.Success<ReturnType<typeof makePipeline>>
