import type { IncomingMessage } from "node:http"
import { type Cause, Context, Effect, Stream } from "effect"
import { ServiceUnavailable, type WireError } from "../../../domain/Errors.ts"
import { IfMatch } from "../../../domain/tenancy/Caller.ts"
import { Broker } from "../../../layers/nats/Broker.ts"
import { providing } from "../../../layers/Providing.ts"
import { type Answer, succeed, tagsOf } from "../response/Answer.ts"
import { toWireError } from "../response/Failures.ts"
import { type Identity, makeAuthorize } from "./Authorize.ts"
import { drain, parseJson, readBody, streamBody } from "./Body.ts"
import { makeOnce } from "./Idempotency.ts"
import type { Route } from "./Routes.ts"
import { makeTurns } from "./Turns.ts"

/** One request on its way: what the log may say of it is filled in as it becomes known. */
export interface Call {
  readonly request: IncomingMessage
  readonly params: Readonly<Record<string, string | undefined>>
  identity: Identity | undefined
}

const nothing = Buffer.alloc(0)

const nothingToUpload = { bytes: Stream.empty, size: 0 }

const announced = ({ headers }: IncomingMessage) =>
  headers["content-length"] === undefined ? undefined : Number(headers["content-length"])

/** Whatever went wrong with us may go right the next time. */
const passing = (cause: Cause.Cause<WireError>) =>
  Effect.flatMap(toWireError(cause), (error) =>
    Effect.fail(error._tag === "InternalError" ? new ServiceUnavailable() : error)
  )

/** How every operation runs: gate, path, body, idempotency, handler, answer. */
export const makeOperation = Effect.gen(function* () {
  const authorize = yield* makeAuthorize
  const once = yield* makeOnce
  const inTurn = yield* makeTurns
  const { wake } = yield* Broker

  const work = Effect.fnUntraced(function* (
    route: Route,
    call: Call,
    identity: Identity,
    path: unknown,
    bytes: Buffer
  ) {
    const { request } = call
    const body = route.hasPayload && !route.isStreamed ? yield* parseJson(request, bytes) : undefined
    const rest = yield* route.decodeRest(request.url ?? "", request.headers, body)
    const upload = route.isStreamed
      ? { bytes: streamBody(request, route.bodyLimit), size: announced(request) }
      : nothingToUpload
    const services = Context.add(identity.services, IfMatch, tagsOf(request.headers["if-match"]))
    const result = yield* providing(route.run({ path, ...rest, bytes, upload }), services)
    return succeed(request, route.status, result)
  })

  const operate = Effect.fnUntraced(function* (route: Route, call: Call): Effect.fn.Return<Answer, WireError> {
    const { params, request } = call
    const identity = yield* authorize(route.access, { headers: request.headers, params })
    call.identity = identity
    const path = yield* route.decodePath(params)
    const isRead = (request.method === "GET" || request.method === "HEAD") && !route.isOnceOnly
    const bytes = isRead || route.isStreamed ? nothing : yield* readBody(request, route.bodyLimit)
    const answer = once(request, route.name, identity, bytes, work(route, call, identity, path, bytes))
    if (isRead) return yield* answer
    // A body that is taken as it comes may come slowly.
    const done = route.isStreamed ? answer : inTurn(identity.tenant, answer)
    return yield* route.isEventless ? done : Effect.zipLeft(done, wake)
  })

  return (route: Route, call: Call) => {
    const answer = operate(route, call)
    if (route.isSentAgain) return Effect.catchAllCause(answer, passing)
    return route.isStreamed ? Effect.tapErrorCause(answer, () => drain(call.request)) : answer
  }
})
