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

/** One request on its way: what the log and the response say of it is filled in as it becomes known. */
export interface Call {
  readonly responseHeaders: Record<string, string>
  readonly request: IncomingMessage
  readonly params: Readonly<Record<string, string | undefined>>
  identity: Identity | undefined
  /** Whom the request is charged to. */
  keys: ReadonlyArray<string>
  /** Has something done when the answer is made, or the request given up. */
  readonly onEnd: (done: () => void) => void
}

const nothing = Buffer.alloc(0)

/** Bodies are in memory while they arrive and while they wait: of one caller, and of all. */
const bodyMemory = { maxPerKey: 64 * 1024 * 1024, max: 256 * 1024 * 1024 }

const nothingToUpload = { bytes: Stream.empty, size: 0 }

const announced = ({ headers }: IncomingMessage) =>
  headers["content-length"] === undefined ? undefined : Number(headers["content-length"])

/** A chunked body may become as long as bodies may be; a request that announces neither length nor chunks has none. */
const maxSizeOf = (request: IncomingMessage, limit: number) =>
  Math.min(announced(request) ?? (request.headers["transfer-encoding"] === undefined ? 0 : limit), limit)

/** Whatever went wrong with us may go right the next time. */
const passing = (cause: Cause.Cause<WireError>) =>
  Effect.flatMap(toWireError(cause), (error) =>
    Effect.fail(error._tag === "InternalError" ? new ServiceUnavailable() : error)
  )

/** How every operation runs: gate, path, body, idempotency, handler, answer. */
export const makeOperation = Effect.fnUntraced(function* (responses: ResponseLimits) {
  const { TRUSTED_PROXIES } = yield* Settings
  const clientAddress = makeClientAddress(TRUSTED_PROXIES)
  const admission = yield* makeAdmission
  const authorize = yield* makeAuthorize(admission)
  const once = yield* makeOnce
  const metrics = yield* RequestMetrics
  const tokens = yield* Tokens
  const budget = new KeyedBudget(bodyMemory)
  const { wake } = yield* Broker

  const work = Effect.fnUntraced(function* (
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
      ? { bytes: streamBody(request, route.bodyLimit), size: announced(request) }
      : nothingToUpload
    const services = Context.add(identity.services, IfMatch, tagsOf(request.headers["if-match"]))
    const result = yield* providing(route.run({ path, ...rest, bytes, upload }), services)
    const answer = succeed(request, route.status, result)
    return answer.body instanceof PagedList ? { ...answer, body: admission.admitPages(keys, answer.body) } : answer
  })

  /** Gives work the whole body, within what bodies of the same keys may take of memory. */
  const withBody = <A, E>(
    { bodyLimit }: Route,
    { keys, onEnd, request }: Call,
    work: (bytes: Buffer) => Effect.Effect<A, E>
  ) =>
    Effect.suspend((): Effect.Effect<A, E | PayloadTooLarge | TooManyRequests | ServiceUnavailable> => {
      const size = maxSizeOf(request, bodyLimit)
      const full = budget.refusal(keys, size)
      if (full !== undefined) return Effect.fail(metrics.refuse(full, "memory"))
      budget.take(keys, size)
      onEnd(() => budget.giveBack(keys, size))
      return Effect.flatMap(readBody(request, bodyLimit), work)
    })

  const operate = Effect.fnUntraced(function* (route: Route, call: Call): Effect.fn.Return<Answer, WireError> {
    const { params, request, responseHeaders } = call
    const identity = yield* authorize(route.access, { headers: request.headers, params, responseHeaders })
    const keys = keysOf(identity, () => clientAddress(request))
    call.identity = identity
    call.keys = keys
    const refusal = admission.refusalInTenant(identity, responseHeaders) ?? responses.refusal(keys)
    if (refusal !== undefined) return yield* Effect.fail(refusal)
    const path = yield* route.decodePath(params)
    const admitted = (bytes: Buffer) =>
      admission.admit(
        route,
        { keys, onEnd: call.onEnd, isInTransaction: isOnce(request) },
        once(request, route.name, identity, bytes, work(route, call, identity, path, bytes))
      )
    const isGet = request.method === "GET" || request.method === "HEAD"
    if (isGet && !route.isOnceOnly) return yield* admitted(nothing)
    const done = isGet || route.isStreamed ? admitted(nothing) : withBody(route, call, admitted)
    return yield* route.isEventless ? done : Effect.zipLeft(done, wake)
  })

  return {
    /** The answer to a request that is refused before anything is begun for it. */
    turnAway: (route: Route, { headers }: IncomingMessage) =>
      admission.turnAway(route, () => {
        const token = bearer(headers.authorization)
        return token === undefined ? undefined : tokens.recall(token)
      }),

    operate: (route: Route, call: Call) => {
      const answer = operate(route, call)
      if (route.isSentAgain) return Effect.catchAllCause(answer, passing)
      return route.isStreamed ? Effect.tapErrorCause(answer, () => drain(call.request)) : answer
    }
  }
})

export type Operation = Effect.Effect.Success<ReturnType<typeof makeOperation>>
