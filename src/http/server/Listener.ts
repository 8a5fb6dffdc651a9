import { randomUUID } from "node:crypto"
import type { IncomingMessage, RequestListener, ServerResponse } from "node:http"
import { type Cause, Clock, Context, Effect, FiberId, Runtime, RuntimeFlags } from "effect"
import * as FindMyWay from "find-my-way-ts"
import { type ApiError, NotFound } from "../../domain/Errors.ts"
import { RequestShare } from "../../layers/concurrency/RequestShare.ts"
import { Settings } from "../../layers/config/Settings.ts"
import { parseTraceParent, TraceExport } from "../../layers/telemetry/TraceContext.ts"
import { RequestMetrics } from "./pages/RequestMetrics.ts"
import { addressKey, makeClientAddress } from "./request/ClientAddress.ts"
import { makePipeline, type Pipeline, type RequestState } from "./request/Pipeline.ts"
import type { Route } from "./request/Routes.ts"
import { PagedList, StreamedBody } from "./response/HandlerResult.ts"
import { errorResponse, type HttpResponse } from "./response/HttpResponse.ts"
import { makeRejectionDelay, makeResponseLimits, type ResponseLimits } from "./response/ResponseLimits.ts"
import { writeList, writeResponse, writeStream } from "./response/ResponseWriter.ts"
import { makeUnavailableLog } from "./response/UnavailableLog.ts"
import { toWireError } from "./response/WireErrors.ts"

const exposedHeaders =
  "ETag, Link, Location, RateLimit, RateLimit-Policy, Retry-After, x-request-id, Idempotent-Replayed"
const allowedHeaders = "Authorization, Content-Type, tenant-id, Idempotency-Key, If-Match, If-None-Match, x-request-id"
const allowedMethods = "GET, HEAD, POST, PUT, PATCH, DELETE"

/** Adds CORS headers for an allowed origin, and none for any other. */
export const makeCors = (origins: ReadonlyArray<string>) => {
  const allowedOrigins = new Set(origins)
  return (request: IncomingMessage, headers: Record<string, string>) => {
    if (allowedOrigins.size === 0) return
    headers["vary"] = "Origin"
    const { origin } = request.headers
    if (origin === undefined || !allowedOrigins.has(origin)) return
    headers["access-control-allow-origin"] = origin
    headers["access-control-expose-headers"] = exposedHeaders
    if (request.method !== "OPTIONS") return
    headers["access-control-allow-headers"] = allowedHeaders
    headers["access-control-allow-methods"] = allowedMethods
    headers["access-control-max-age"] = "600"
  }
}

/** A public route outside of the API, such as health or documentation. */
export interface PlainRoute {
  /** Default: GET, and HEAD with it. */
  readonly method?: "POST"
  readonly path: `/${string}`
  readonly respond: (request: IncomingMessage) => Effect.Effect<HttpResponse, ApiError>
}

/** A public GET route with parameters in its path, whose requests are limited by address and traced. */
export interface PageRoute {
  readonly path: `/${string}`
  /** The path in logs, traces and metrics, without the values of its parameters: they can be secrets. */
  readonly name: string
  readonly respond: (call: RequestState) => Effect.Effect<HttpResponse, ApiError>
  /** The page of an error, for a browser. */
  readonly toErrorResponse: (error: ApiError) => HttpResponse
}

interface RouteTarget {
  readonly name: string
  readonly run: (call: RequestState) => Effect.Effect<HttpResponse, ApiError>
  /** The response to a request that is rejected before any work starts, if it is. */
  readonly rejectEarly?: (call: RequestState) => HttpResponse | undefined
  /** The response to an error, if it is not that of the API. */
  readonly toErrorResponse?: PageRoute["toErrorResponse"]
  /** Whether it is part of the API or a page. Health checks and metrics would fill traces with requests of machines. */
  readonly isTraced?: boolean
  /** Whether the work is interrupted when the client disconnects. */
  readonly isCancellable?: boolean
}

const unknownRoute: RouteTarget = { name: "unknown", run: () => Effect.fail(new NotFound()) }
/** Status in the metrics when the client disconnects before the response; the code is nginx's. */
const clientClosedRequestStatus = 499

const preflight: RouteTarget = {
  name: "preflight",
  run: () => Effect.succeed({ status: 204, headers: {}, body: undefined })
}

/** Keeps the client's x-request-id if it is safe in a log line. */
const requestIdOf = ({ headers }: IncomingMessage) => {
  const given = headers["x-request-id"]
  return typeof given === "string" && /^[\w.:-]{1,128}$/.test(given) ? given : randomUUID()
}

const logAnnotations = (call: RequestState, target: RouteTarget, requestId: string) => ({
  requestId,
  operation: target.name,
  ...(call.identity?.tenant === undefined ? {} : { tenant: call.identity.tenant }),
  ...(call.identity?.principal === undefined ? {} : { principal: call.identity.principal })
})

const traceParentOf = ({ headers }: IncomingMessage) => {
  const { traceparent } = headers
  return typeof traceparent === "string" ? parseTraceParent(traceparent) : undefined
}

/**
 * Runs the work of a request in a span that continues the client's trace, and its response in the same trace: the span
 * ends with the failure, but the log lines about the failure come later. Without an exporter, it passes the trace on.
 */
const traceRequest = <A, E>(
  { name, run }: RouteTarget,
  call: RequestState,
  isExported: boolean,
  respond: (work: ReturnType<RouteTarget["run"]>) => Effect.Effect<A, E>
): Effect.Effect<A, E> => {
  const parent = traceParentOf(call.request)
  if (!isExported) {
    const serving = respond(run(call))
    return parent === undefined ? serving : Effect.withParentSpan(serving, parent)
  }
  const attributes = { "http.request.method": call.request.method }
  const options = { kind: "server", attributes, captureStackTrace: false, ...(parent && { parent }) } as const
  return Effect.flatMap(Effect.makeSpan(name, options), (span) => {
    const work = Effect.onExit(run(call), (exit) => Effect.map(Clock.currentTimeNanos, (now) => span.end(now, exit)))
    return Effect.withParentSpan(respond(work), span)
  }).pipe(Effect.withTracerEnabled(true))
}

interface ServedRoutes {
  readonly routes: ReadonlyArray<Route>
  readonly plainRoutes: ReadonlyArray<PlainRoute>
  readonly pageRoutes: ReadonlyArray<PageRoute>
}

const makeRouter = (
  { pageRoutes, plainRoutes, routes }: ServedRoutes,
  pipeline: Pipeline,
  anonymous: AnonymousRunner
) => {
  const router = FindMyWay.make<RouteTarget>({
    ignoreTrailingSlash: false,
    ignoreDuplicateSlashes: false,
    caseSensitive: true,
    maxParamLength: 16 * 1024
  })
  for (const route of routes) {
    const target = {
      name: route.name,
      run: (call: RequestState) => pipeline.run(route, call),
      rejectEarly: (call: RequestState) => pipeline.rejectEarly(route, call),
      isTraced: true,
      isCancellable: route.isExternal && route.method === "GET" && !route.isUnsafeGet
    }
    router.on(route.method, route.path, target)
    if (route.method === "GET" && !route.isUnsafeGet) router.on("HEAD", route.path, target)
  }
  for (const route of plainRoutes) {
    router.on(route.method ?? ["GET", "HEAD"], route.path, {
      name: route.path,
      run: (call) => anonymous.runPlain(route, call)
    })
  }
  for (const route of pageRoutes) {
    const { name, path, toErrorResponse } = route
    router.on(["GET", "HEAD"], path, {
      name,
      run: (call) => anonymous.runPage(route, call),
      toErrorResponse,
      isTraced: true
    })
  }
  return (request: IncomingMessage) => {
    if (request.method === "OPTIONS") return { target: preflight, params: {} }
    const url = request.url ?? "/"
    // The router reads the asterisk of `OPTIONS *` as `/`, and cuts a path at a semicolon.
    const isUnroutable = url === "*" || url.split("?", 1)[0]?.includes(";")
    const found = isUnroutable ? undefined : router.find(request.method ?? "", url)
    return found === undefined ? { target: unknownRoute, params: {} } : { target: found.handler, params: found.params }
  }
}

/** Larger responses count as unread. Health checks are never rejected. */
const maxUncountedBytes = 16 * 1024

const isSmall = ({ body }: HttpResponse) =>
  body === undefined ||
  (typeof body === "string" || body instanceof Uint8Array ? body.length <= maxUncountedBytes : false)

/** Runs requests whose senders nobody knows, unless their address has too many unread bytes. */
const makeAnonymousRunner = (clientAddress: (request: IncomingMessage) => string, { checkUnread }: ResponseLimits) => {
  const addKeys = (call: RequestState) => {
    call.share.keys = [addressKey(clientAddress(call.request))]
  }
  const requireRead = <A>(call: RequestState, work: Effect.Effect<A, ApiError>) =>
    Effect.suspend(() => {
      const rejection = checkUnread(call.share.keys)
      return rejection === undefined ? work : Effect.fail(rejection)
    })
  return {
    runPage: ({ respond }: PageRoute, call: RequestState) => {
      addKeys(call)
      return requireRead(call, respond(call))
    },

    runPlain: ({ respond }: PlainRoute, call: RequestState) => {
      addKeys(call)
      return Effect.flatMap(respond(call.request), (response) =>
        isSmall(response) ? Effect.succeed(response) : requireRead(call, Effect.succeed(response))
      )
    }
  }
}

type AnonymousRunner = ReturnType<typeof makeAnonymousRunner>

/** Serves every request: finds its route, runs it, maps failures to error responses, measures and logs. */
const makeListenerWith = (served: ServedRoutes, pipeline: Pipeline, responseLimits: ResponseLimits) =>
  Effect.gen(function* () {
    const { CORS_ORIGINS, LOG_LEVEL, TRUSTED_PROXIES } = yield* Settings
    const isVerbose = LOG_LEVEL === "debug"
    const { isEnabled: isExported } = yield* TraceExport
    const metrics = yield* RequestMetrics
    const anonymous = makeAnonymousRunner(makeClientAddress(TRUSTED_PROXIES), responseLimits)
    const findRoute = makeRouter(served, pipeline, anonymous)
    const addCorsHeaders = makeCors(CORS_ORIGINS)
    const delayRejection = makeRejectionDelay()
    const logUnavailable = makeUnavailableLog()
    // Every request would copy the surrounding context to add its own services, and needs nothing of it but its share of
    // the connections. The runtime's fiber metrics are not exported, so counting fibers is switched off.
    const runtime = Runtime.disableRuntimeFlag(yield* Effect.runtime<never>(), RuntimeFlags.RuntimeMetrics)
    const runFork = <A, E>(call: RequestState, effect: Effect.Effect<A, E>) =>
      Runtime.runFork(
        Runtime.updateContext(runtime, () => Context.make(RequestShare, call.share)),
        effect
      )

    const serve = (request: IncomingMessage, response: ServerResponse<IncomingMessage>) => {
      const startedAt = performance.now()
      const requestId = requestIdOf(request)
      const { params, target } = findRoute(request)
      const finalizers: Array<() => void> = []
      const runFinalizers = () => {
        for (let finalize = finalizers.pop(); finalize !== undefined; finalize = finalizers.pop()) finalize()
      }
      const onEnd = (finalizer: () => void) => void finalizers.push(finalizer)
      const responseHeaders: Record<string, string> = { "x-request-id": requestId }
      addCorsHeaders(request, responseHeaders)
      const call: RequestState = {
        request,
        params,
        responseHeaders,
        identity: undefined,
        share: { keys: [] },
        onAdmission: undefined,
        onEnd
      }
      metrics.requestStarted()
      const rejection = isVerbose || isExported ? undefined : target.rejectEarly?.(call)
      if (rejection !== undefined) {
        return delayRejection(response, 0, () => {
          writeResponse(response, rejection, responseHeaders)
          metrics.requestFinished(target.name, rejection.status, (performance.now() - startedAt) / 1000)
        })
      }
      const finish = (status: number) => {
        metrics.requestFinished(target.name, status, (performance.now() - startedAt) / 1000)
        if (!isVerbose) return Effect.void
        return Effect.logDebug(`${request.method} ${target.name} ${status}`).pipe(
          Effect.annotateLogs(logAnnotations(call, target, requestId))
        )
      }
      const logCutOff = (cause: Cause.Cause<ApiError>) =>
        Effect.logWarning("A list response was cut off: reading its next page failed", cause).pipe(
          Effect.annotateLogs(logAnnotations(call, target, requestId))
        )
      const respond = (result: HttpResponse): Effect.Effect<void, ApiError> => {
        runFinalizers()
        const { body, status } = result
        const writeHead = () => writeResponse(response, result, responseHeaders)
        if (body instanceof StreamedBody && request.method !== "HEAD") {
          const takeTurn = responseLimits.turnOf(body.kind, call.share.keys)
          const writing = writeStream(response, body, writeHead, takeTurn)
          return Effect.flatMap(responseLimits.writeLimited(body.kind, call.share.keys, writing), () => finish(status))
        }
        if (body instanceof PagedList && request.method !== "HEAD") {
          const writing = Effect.suspend(() => {
            writeHead()
            return writeList(response, body)
          })
          return responseLimits
            .writeLimited("lists", call.share.keys, Effect.catchAllCause(writing, logCutOff))
            .pipe(Effect.flatMap(() => finish(status)))
        }
        writeHead()
        responseLimits.trackUnread(response, call.share.keys)
        return finish(status)
      }
      const waitForRejection = Effect.async<void>((resume) => {
        runFinalizers()
        delayRejection(response, performance.now() - startedAt, () => resume(Effect.void))
      })
      const respondTo = (work: Effect.Effect<HttpResponse, ApiError>) =>
        Effect.flatMap(work, respond).pipe(
          Effect.catchAllCause((cause) =>
            toWireError(cause).pipe(
              Effect.tap(logUnavailable),
              Effect.annotateLogs(logAnnotations(call, target, requestId)),
              Effect.tap(({ _tag }) => (_tag === "TooManyRequests" ? waitForRejection : Effect.void)),
              Effect.map(target.toErrorResponse ?? errorResponse),
              Effect.flatMap(respond)
            )
          )
        )
      const serving = target.isTraced ? traceRequest(target, call, isExported, respondTo) : respondTo(target.run(call))
      if (!target.isCancellable) return void runFork(call, serving)
      const onDisconnect = () => {
        runFinalizers()
        return finish(clientClosedRequestStatus)
      }
      const fiber = runFork(call, Effect.onInterrupt(serving, onDisconnect))
      response.once("close", () => response.writableEnded || fiber.unsafeInterruptAsFork(FiberId.none))
    }
    return serve satisfies RequestListener
  })

/** Serves the API, the plain routes and the pages. */
export const makeListener = (
  routes: ReadonlyArray<Route>,
  plainRoutes: ReadonlyArray<PlainRoute>,
  pageRoutes: ReadonlyArray<PageRoute>
) =>
  Effect.gen(function* () {
    const responseLimits = yield* makeResponseLimits
    const pipeline = yield* makePipeline(responseLimits)
    return yield* makeListenerWith({ routes, plainRoutes, pageRoutes }, pipeline, responseLimits)
  })

/** Serves only plain routes, without the dependencies of the API's pipeline. */
export const makePlainListener = (plainRoutes: ReadonlyArray<PlainRoute>) =>
  Effect.flatMap(makeResponseLimits, (responseLimits) =>
    makeListenerWith(
      { routes: [], plainRoutes, pageRoutes: [] },
      { run: () => Effect.fail(new NotFound()), rejectEarly: () => undefined },
      responseLimits
    )
  )
