import type { IncomingMessage } from "node:http"
import { type Cause, Context, Effect, Stream } from "effect"
import {
  type PayloadTooLarge,
  ServiceUnavailable,
  type TooManyRequests,
  type WireError
} from "../../../domain/Errors.ts"
import { IfMatch } from "../../../domain/tenancy/Caller.ts"
import { Tokens } from "../../../layers/auth/Tokens.ts"
import { KeyedBudget } from "../../../layers/concurrency/KeyedBudget.ts"
import { providing } from "../../../layers/concurrency/Providing.ts"
import { Settings } from "../../../layers/config/Settings.ts"
import { Broker } from "../../../layers/nats/Broker.ts"
import { RequestMetrics } from "../pages/RequestMetrics.ts"
import { type Answer, succeed, tagsOf } from "../response/Answer.ts"
import { toWireError } from "../response/Failures.ts"
import { PagedList } from "../response/Reply.ts"
import type { ResponseLimits } from "../response/ResponseLimits.ts"
import { keysOf, makeAdmission } from "./Admission.ts"
import { bearer, type Identity, makeAuthorize } from "./Authorize.ts"
import { drain, parseJson, readBody, streamBody } from "./Body.ts"
import { makeClientAddress } from "./ClientAddress.ts"
import { isOnce, makeOnce } from "./Idempotency.ts"
import type { Route } from "./Routes.ts"

/** State of one request. The pipeline fills in what the log and the response need. */
export interface Call {
  readonly responseHeaders: Record<string, string>
  readonly request: IncomingMessage
  readonly params: Readonly<Record<string, string | undefined>>
  identity: Identity | undefined
  /** The keys that the request's limits count under. */
  keys: ReadonlyArray<string>
  /** Registers a finalizer. It runs when the response is ready, or the client disconnects. */
  readonly onEnd: (finalizer: () => void) => void
}

const emptyBuffer = Buffer.alloc(0)

/** Bytes of bodies in memory, while they arrive and while they wait. */
const bodyMemoryLimits = { maxPerKey: 64 * 1024 * 1024, max: 256 * 1024 * 1024 }

const emptyUpload = { bytes: Stream.empty, size: 0 }

const contentLengthOf = ({ headers }: IncomingMessage) =>
  headers["content-length"] === undefined ? undefined : Number(headers["content-length"])

/** The most bytes a body can have: its Content-Length, the limit for a chunked body, or none without either header. */
const maxSizeOf = (request: IncomingMessage, maxBytes: number) =>
  Math.min(contentLengthOf(request) ?? (request.headers["transfer-encoding"] === undefined ? 0 : maxBytes), maxBytes)

/** Turns a 500 into a 503, so that the sender retries. */
const toRetryable = (cause: Cause.Cause<WireError>) =>
  Effect.flatMap(toWireError(cause), (error) =>
    Effect.fail(error._tag === "InternalError" ? new ServiceUnavailable() : error)
  )

/** Runs every operation: authorization, path, body, idempotency, handler, response. */
export const makeOperation = Effect.fnUntraced(function* (responseLimits: ResponseLimits) {
  const { TRUSTED_PROXIES } = yield* Settings
  const clientAddress = makeClientAddress(TRUSTED_PROXIES)
  const admission = yield* makeAdmission
  const authorize = yield* makeAuthorize(admission)
  const runOnce = yield* makeOnce
  const metrics = yield* RequestMetrics
  const tokens = yield* Tokens
  const bodyBudget = new KeyedBudget(bodyMemoryLimits)
  const { wake } = yield* Broker

  const runHandler = Effect.fnUntraced(function* (
    route: Route,
    call: Call,
    identity: Identity,
    path: unknown,
    bytes: Buffer
  ) {
    const { keys, request } = call
    const body = route.hasPayload && !route.isStreamed ? yield* parseJson(request, bytes) : undefined
    const rest = yield* route.decodeRest(request.url ?? "", request.headers, body)
    const upload = route.isStreamed
      ? { bytes: streamBody(request, route.bodyLimit), size: contentLengthOf(request) }
      : emptyUpload
    const services = Context.add(identity.services, IfMatch, tagsOf(request.headers["if-match"]))
    const result = yield* providing(route.run({ path, ...rest, bytes, upload }), services)
    const response = succeed(request, route.status, result)
    return response.body instanceof PagedList
      ? { ...response, body: admission.admitPages(keys, response.body) }
      : response
  })

  /** Reads the whole body for `work`, within the memory budget of the request's keys. */
  const withBody = <A, E>(
    { bodyLimit }: Route,
    { keys, onEnd, request }: Call,
    work: (bytes: Buffer) => Effect.Effect<A, E>
  ) =>
    Effect.suspend((): Effect.Effect<A, E | PayloadTooLarge | TooManyRequests | ServiceUnavailable> => {
      const size = maxSizeOf(request, bodyLimit)
      const full = bodyBudget.refusal(keys, size)
      if (full !== undefined) return Effect.fail(metrics.refuse(full, "memory"))
      bodyBudget.take(keys, size)
      onEnd(() => bodyBudget.giveBack(keys, size))
      return Effect.flatMap(readBody(request, bodyLimit), work)
    })

  const runRoute = Effect.fnUntraced(function* (route: Route, call: Call): Effect.fn.Return<Answer, WireError> {
    const { params, request, responseHeaders } = call
    const identity = yield* authorize(route.access, { headers: request.headers, params, responseHeaders })
    const keys = keysOf(identity, () => clientAddress(request))
    call.identity = identity
    call.keys = keys
    const rejection = admission.refusalInTenant(identity, responseHeaders) ?? responseLimits.refusal(keys)
    if (rejection !== undefined) return yield* Effect.fail(rejection)
    const path = yield* route.decodePath(params)
    const runAdmitted = (bytes: Buffer) =>
      admission.admit(
        route,
        { keys, onEnd: call.onEnd, isInTransaction: isOnce(request) },
        runOnce(request, route.name, identity, bytes, runHandler(route, call, identity, path, bytes))
      )
    const isGet = request.method === "GET" || request.method === "HEAD"
    if (isGet && !route.isOnceOnly) return yield* runAdmitted(emptyBuffer)
    const run = isGet || route.isStreamed ? runAdmitted(emptyBuffer) : withBody(route, call, runAdmitted)
    return yield* route.isEventless ? run : Effect.zipLeft(run, wake)
  })

  return {
    /** The response to a request that is rejected before any work starts, if it is. */
    turnAway: (route: Route, { headers }: IncomingMessage) =>
      admission.turnAway(route, () => {
        const token = bearer(headers.authorization)
        return token === undefined ? undefined : tokens.recall(token)
      }),

    operate: (route: Route, call: Call) => {
      const response = runRoute(route, call)
      if (route.isSentAgain) return Effect.catchAllCause(response, toRetryable)
      return route.isStreamed ? Effect.tapErrorCause(response, () => drain(call.request)) : response
    }
  }
})

export type Operation = Effect.Effect.Success<ReturnType<typeof makeOperation>>
