import { randomUUID } from "node:crypto"
import type { IncomingMessage, RequestListener, ServerResponse } from "node:http"
import { type Cause, Context, Effect, FiberId, Runtime, RuntimeFlags } from "effect"
import { type ApiError, NotFound } from "../../domain/Errors.ts"
import { RequestShare } from "../../layers/infra/concurrency/RequestShare.ts"
import { Settings } from "../../layers/infra/config/Settings.ts"
import { TraceExport } from "../../layers/infra/telemetry/TraceContext.ts"
import { makeAnonymousRunner, type PageRoute, type PlainRoute } from "./AnonymousRequests.ts"
import { makeCors } from "./Cors.ts"
import { RequestMetrics } from "./pages/RequestMetrics.ts"
import { traceRequest } from "./RequestTracing.ts"
import { makeRouter, type RouteTarget, type ServedRoutes } from "./Router.ts"
import { makeClientAddress } from "./request/ClientAddress.ts"
import { makePipeline, type Pipeline } from "./request/Pipeline.ts"
import { RequestState } from "./request/RequestState.ts"
import type { Route } from "./request/Routes.ts"
import { attempt } from "./request/Steps.ts"
import { PagedList, StreamedBody } from "./response/HandlerResult.ts"
import { errorResponse, type HttpResponse } from "./response/HttpResponse.ts"
import { makeRejectionDelay, makeResponseLimits, type ResponseLimits } from "./response/ResponseLimits.ts"
import { writeList, writeResponse, writeStream } from "./response/ResponseWriter.ts"
import { makeUnavailableLog } from "./response/UnavailableLog.ts"
import { toWireError } from "./response/WireErrors.ts"

/** Status in the metrics when the client disconnects before the response; the code is nginx's. */
const clientClosedRequestStatus = 499

/** Keeps the client's x-request-id if it is safe in a log line. */
const requestIdOf = ({ headers }: IncomingMessage) => {
  const given = headers["x-request-id"]
  return typeof given === "string" && /^[\w.:-]{1,128}$/.test(given) ? given : randomUUID()
}

/** A request and its response. */
class Exchange {
  readonly call: RequestState
  readonly target: RouteTarget
  readonly response: ServerResponse<IncomingMessage>
  readonly #startedAt = performance.now()

  constructor(call: RequestState, target: RouteTarget, response: ServerResponse<IncomingMessage>) {
    this.call = call
    this.target = target
    this.response = response
  }

  ageMillis() {
    return performance.now() - this.#startedAt
  }

  /** For a list or a stream, writes only the head. */
  write(result: HttpResponse) {
    writeResponse(this.response, result, this.call.responseHeaders)
  }

  logAnnotations() {
    const { id, identity } = this.call
    return {
      requestId: id,
      operation: this.target.name,
      ...(identity?.tenant === undefined ? {} : { tenant: identity.tenant }),
      ...(identity?.principal === undefined ? {} : { principal: identity.principal })
    }
  }
}

const cutOff = "A list response was cut off: reading its next page failed"

/** Serves every request: finds its route, runs it, maps failures to error responses, measures and logs. */
const makeListenerWith = (served: ServedRoutes, pipeline: Pipeline, responseLimits: ResponseLimits) =>
  Effect.gen(function* () {
    const { CORS_ORIGINS, LOG_LEVEL, TRUSTED_PROXIES } = yield* Settings
    const isVerbose = LOG_LEVEL === "debug"
    const { isEnabled: isExported } = yield* TraceExport
    const metrics = yield* RequestMetrics
    const findRoute = makeRouter(
      served,
      pipeline,
      makeAnonymousRunner(makeClientAddress(TRUSTED_PROXIES), responseLimits)
    )
    const addCorsHeaders = makeCors(CORS_ORIGINS)
    const delayRejection = makeRejectionDelay()
    const logUnavailable = makeUnavailableLog()
    // Every request would copy the surrounding context to add its own services, and needs nothing of it but its share of
    // the connections. The runtime's fiber metrics are not exported, so counting fibers is switched off.
    const runtime = Runtime.disableRuntimeFlag(yield* Effect.runtime<never>(), RuntimeFlags.RuntimeMetrics)
    const runFork = <A, E>(call: RequestState, effect: Effect.Effect<A, E>) => {
      call.hasFiber = true
      return Runtime.runFork(
        Runtime.updateContext(runtime, () => Context.add(call.services, RequestShare, call.share)),
        effect
      )
    }

    const finish = (exchange: Exchange, status: number) => {
      const { call, target } = exchange
      metrics.requestFinished(target.name, status, exchange.ageMillis() / 1000)
      if (!isVerbose) return Effect.void
      return Effect.logDebug(`${call.request.method} ${target.name} ${status}`).pipe(
        Effect.annotateLogs(exchange.logAnnotations())
      )
    }

    /** Writes a list or a stream while it is read. */
    const writeInParts = (exchange: Exchange, result: HttpResponse, body: StreamedBody | PagedList<unknown>) => {
      const { call, response } = exchange
      const { keys } = call.share
      const writeHead = () => exchange.write(result)
      if (body instanceof StreamedBody) {
        const writing = writeStream(response, body, writeHead, responseLimits.turnOf(body.kind, keys))
        return responseLimits.writeLimited(body.kind, keys, writing)
      }
      const writing = Effect.suspend(() => {
        writeHead()
        return writeList(response, body)
      })
      const logCutOff = (cause: Cause.Cause<ApiError>) =>
        Effect.logWarning(cutOff, cause).pipe(Effect.annotateLogs(exchange.logAnnotations()))
      return responseLimits.writeLimited("lists", keys, Effect.catchAllCause(writing, logCutOff))
    }

    const respond = (exchange: Exchange, result: HttpResponse): Effect.Effect<void, ApiError> => {
      const { call, response } = exchange
      const { body, status } = result
      call.end()
      if ((body instanceof StreamedBody || body instanceof PagedList) && call.request.method !== "HEAD")
        return Effect.flatMap(writeInParts(exchange, result, body), () => finish(exchange, status))
      exchange.write(result)
      responseLimits.trackUnread(response, call.share.keys)
      return finish(exchange, status)
    }

    const waitForRejection = (exchange: Exchange) =>
      Effect.async<void>((resume) => {
        exchange.call.end()
        delayRejection(exchange.response, exchange.ageMillis(), () => resume(Effect.void))
      })

    const respondToFailure = (exchange: Exchange, cause: Cause.Cause<ApiError>) =>
      toWireError(cause).pipe(
        Effect.tap(logUnavailable),
        Effect.annotateLogs(exchange.logAnnotations()),
        Effect.tap(({ _tag }) => (_tag === "TooManyRequests" ? waitForRejection(exchange) : Effect.void)),
        Effect.map(exchange.target.toErrorResponse ?? errorResponse),
        Effect.flatMap((result) => respond(exchange, result))
      )

    const serveExchange = (exchange: Exchange) => {
      const { call, target } = exchange
      const respondTo = (work: Effect.Effect<HttpResponse, ApiError>) =>
        Effect.catchAllCause(
          Effect.flatMap(work, (result) => respond(exchange, result)),
          (cause) => respondToFailure(exchange, cause)
        )
      return target.isTraced
        ? traceRequest(target, call, isExported, respondTo)
        : respondTo(attempt(() => target.run(call)))
    }

    /** Interrupts the work when the client disconnects. */
    const serveWhileConnected = (exchange: Exchange) => {
      const { call, response } = exchange
      const onDisconnect = () => {
        call.end()
        return finish(exchange, clientClosedRequestStatus)
      }
      const fiber = runFork(call, Effect.onInterrupt(serveExchange(exchange), onDisconnect))
      response.once("close", () => response.writableEnded || fiber.unsafeInterruptAsFork(FiberId.none))
    }

    const reject = (exchange: Exchange, rejection: HttpResponse) =>
      delayRejection(exchange.response, 0, () => {
        exchange.write(rejection)
        metrics.requestFinished(exchange.target.name, rejection.status, exchange.ageMillis() / 1000)
      })

    const serve = (request: IncomingMessage, response: ServerResponse<IncomingMessage>) => {
      const { params, target } = findRoute(request)
      const call = new RequestState(request, requestIdOf(request), params)
      const exchange = new Exchange(call, target, response)
      addCorsHeaders(request, call.responseHeaders)
      metrics.requestStarted()
      const rejection = isVerbose || isExported ? undefined : target.rejectEarly?.(call)
      if (rejection !== undefined) reject(exchange, rejection)
      else if (target.isCancellable) serveWhileConnected(exchange)
      else runFork(call, serveExchange(exchange))
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
