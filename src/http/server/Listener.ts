import { randomUUID } from "node:crypto"
import type { IncomingMessage, RequestListener, ServerResponse } from "node:http"
import { type Cause, Context, Effect, FiberId, Runtime, RuntimeFlags } from "effect"
import * as FindMyWay from "find-my-way-ts"
import { NotFound, type WireError } from "../../domain/Errors.ts"
import { Settings } from "../../layers/config/Settings.ts"
import { RequestMetrics } from "./pages/RequestMetrics.ts"
import { type Call, makeOperation, type Operation } from "./request/Operation.ts"
import type { Route } from "./request/Routes.ts"
import { traced } from "./request/Tracing.ts"
import { type Answer, failureAnswer } from "./response/Answer.ts"
import { makeCors } from "./response/Cors.ts"
import { toWireError } from "./response/Failures.ts"
import { writeList } from "./response/ListWriter.ts"
import { PagedList, Streamed } from "./response/Reply.ts"
import { write } from "./response/Respond.ts"
import { makeResponseLimits, type ResponseLimits } from "./response/ResponseLimits.ts"
import { writeStream } from "./response/StreamWriter.ts"

/** Something to be served outside the contract, to anyone: health, documentation. */
export interface PlainRoute {
  readonly path: `/${string}`
  readonly answer: Effect.Effect<Answer, WireError>
}

interface Target {
  readonly name: string
  readonly run: (call: Call) => Effect.Effect<Answer, WireError>
  /** The answer to a request that is refused before anything is begun for it. */
  readonly turnAway?: (request: IncomingMessage) => Answer | undefined
  /** Whether its work is given up when the caller disconnects. */
  readonly isCancellable?: boolean
}

const unknownRoute: Target = { name: "unknown", run: () => Effect.fail(new NotFound()) }
/** What is counted for a caller who disconnected before the answer, as nginx does. */
const clientClosedRequest = 499

const preflight: Target = {
  name: "preflight",
  run: () => Effect.succeed({ status: 204, headers: {}, body: undefined })
}

/** A caller's own request id is kept when it is fit for a log line. */
const requestIdOf = ({ headers }: IncomingMessage) => {
  const given = headers["x-request-id"]
  return typeof given === "string" && /^[\w.:-]{1,128}$/.test(given) ? given : randomUUID()
}

const annotations = (call: Call, target: Target, requestId: string) => ({
  requestId,
  operation: target.name,
  ...(call.identity?.tenant === undefined ? {} : { tenant: call.identity.tenant }),
  ...(call.identity?.principal === undefined ? {} : { principal: call.identity.principal })
})

const makeRouter = (routes: ReadonlyArray<Route>, plain: ReadonlyArray<PlainRoute>, operation: Operation) => {
  const router = FindMyWay.make<Target>({
    ignoreTrailingSlash: false,
    ignoreDuplicateSlashes: false,
    caseSensitive: true,
    maxParamLength: 16 * 1024
  })
  for (const route of routes) {
    const target = {
      name: route.name,
      run: (call: Call) => operation.operate(route, call),
      turnAway: (request: IncomingMessage) => operation.turnAway(route, request),
      isCancellable: route.isExternal && route.method === "GET" && !route.isOnceOnly
    }
    router.on(route.method, route.path, target)
    if (route.method === "GET" && !route.isOnceOnly) router.on("HEAD", route.path, target)
  }
  for (const { answer, path } of plain) {
    router.on(["GET", "HEAD"], path, { name: path, run: () => answer })
  }
  return (request: IncomingMessage) => {
    if (request.method === "OPTIONS") return { target: preflight, params: {} }
    const url = request.url ?? "/"
    const found = url.split("?", 1)[0]?.includes(";") ? undefined : router.find(request.method ?? "", url)
    return found === undefined ? { target: unknownRoute, params: {} } : { target: found.handler, params: found.params }
  }
}

/** Serves every request: finds its operation, runs it, tells failures in the interface's words, measures and logs. */
const listenerOf = (
  routes: ReadonlyArray<Route>,
  plain: ReadonlyArray<PlainRoute>,
  operation: Operation,
  responses: ResponseLimits
) =>
  Effect.gen(function* () {
    const { CORS_ORIGINS, LOG_LEVEL, OTEL_EXPORTER_OTLP_ENDPOINT } = yield* Settings
    const isVerbose = LOG_LEVEL === "debug"
    const isTraced = OTEL_EXPORTER_OTLP_ENDPOINT !== undefined
    const metrics = yield* RequestMetrics
    const find = makeRouter(routes, plain, operation)
    const cors = makeCors(CORS_ORIGINS)
    // Nothing in a request asks for what is around it here, which would be copied with all it is given. Counting fibers
    // is the runtime's own metric, which nobody reads.
    const runtime = (yield* Effect.runtime<never>()).pipe(
      Runtime.updateContext(() => Context.empty()),
      Runtime.disableRuntimeFlag(RuntimeFlags.RuntimeMetrics)
    )
    const runFork = Runtime.runFork(runtime)

    const serve = (request: IncomingMessage, response: ServerResponse<IncomingMessage>) => {
      const started = performance.now()
      const requestId = requestIdOf(request)
      const { params, target } = find(request)
      const ends: Array<() => void> = []
      const end = () => {
        for (let done = ends.pop(); done !== undefined; done = ends.pop()) done()
      }
      const onEnd = (done: () => void) => void ends.push(done)
      const call: Call = { request, params, responseHeaders: {}, identity: undefined, keys: [], onEnd }
      metrics.started()
      const refused = isVerbose || isTraced ? undefined : target.turnAway?.(request)
      if (refused !== undefined) {
        write(response, refused, { "x-request-id": requestId, ...cors(request) })
        return metrics.finished(target.name, refused.status, (performance.now() - started) / 1000)
      }
      const finish = (status: number) => {
        metrics.finished(target.name, status, (performance.now() - started) / 1000)
        if (!isVerbose) return Effect.void
        return Effect.logDebug(`${request.method} ${target.name} ${status}`).pipe(
          Effect.annotateLogs(annotations(call, target, requestId))
        )
      }
      const logCutOff = (cause: Cause.Cause<WireError>) =>
        Effect.logWarning("A list was cut off, because its next page could not be read", cause).pipe(
          Effect.annotateLogs(annotations(call, target, requestId))
        )
      const settle = (answer: Answer): Effect.Effect<void, WireError> => {
        end()
        const { body, status } = answer
        const writeHead = () =>
          write(response, answer, { "x-request-id": requestId, ...call.responseHeaders, ...cors(request) })
        if (body instanceof Streamed && request.method !== "HEAD") {
          const writing = responses.inPieces("files", call.keys, writeStream(response, body, writeHead))
          return Effect.flatMap(writing, () => finish(status))
        }
        if (body instanceof PagedList && request.method !== "HEAD") {
          const writing = Effect.suspend(() => {
            writeHead()
            return writeList(response, body)
          })
          return responses
            .inPieces("lists", call.keys, Effect.catchAllCause(writing, logCutOff))
            .pipe(Effect.flatMap(() => finish(status)))
        }
        writeHead()
        responses.watch(response, call.keys)
        return finish(status)
      }
      const serving = (isTraced ? traced(request, target.name)(target.run(call)) : target.run(call)).pipe(
        Effect.flatMap(settle),
        Effect.catchAllCause((cause) =>
          toWireError(cause).pipe(
            Effect.annotateLogs(annotations(call, target, requestId)),
            Effect.map(failureAnswer),
            Effect.flatMap(settle)
          )
        )
      )
      if (!target.isCancellable) return void runFork(serving)
      const giveUp = () => {
        end()
        return finish(clientClosedRequest)
      }
      const fiber = runFork(Effect.onInterrupt(serving, giveUp))
      response.once("close", () => response.writableEnded || fiber.unsafeInterruptAsFork(FiberId.none))
    }
    return serve satisfies RequestListener
  })

/** Serves the contract, and beside it what is outside of it. */
export const makeListener = (routes: ReadonlyArray<Route>, plain: ReadonlyArray<PlainRoute>) =>
  Effect.gen(function* () {
    const responses = yield* makeResponseLimits
    return yield* listenerOf(routes, plain, yield* makeOperation(responses), responses)
  })

/** Serves nothing of the contract, and so needs nothing of what its operations pass through. */
export const makePlainListener = (plain: ReadonlyArray<PlainRoute>) =>
  Effect.flatMap(makeResponseLimits, (responses) =>
    listenerOf([], plain, { operate: () => Effect.fail(new NotFound()), turnAway: () => undefined }, responses)
  )
