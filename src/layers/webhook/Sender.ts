import { Effect, Either, identity } from "effect"
import type { Dispatcher } from "undici"
import type { Sent } from "../../domain/delivery/Sent.ts"
import { makeFairSemaphore, type Refused } from "../concurrency/FairSemaphore.ts"
import { Answer } from "./Answer.ts"
import { makeConnections, mostConnections } from "./Connections.ts"
import { type Broken, exchange } from "./Exchange.ts"
import { signatureHeaders } from "./Signature.ts"
import { Targets } from "./Target.ts"
import { faultOfStatus, troubleOf } from "./Trouble.ts"

/** One attempt to deliver an event. The newest secret comes first; `now` is in epoch milliseconds. */
export interface Attempt {
  readonly tenant: string
  readonly url: string
  readonly id: string
  readonly body: Uint8Array
  readonly secrets: ReadonlyArray<string>
  readonly now: number
  readonly timeoutMs?: number
}

const buildRequest = ({ body, id, now, secrets }: Attempt, url: URL): Dispatcher.DispatchOptions => ({
  origin: url.origin,
  path: `${url.pathname}${url.search}`,
  method: "POST",
  headers: {
    "content-type": "application/json",
    "user-agent": "contracting-webhooks/0.1",
    ...signatureHeaders(id, now, body, secrets)
  },
  body
})

const makeUnsent = (error: string): Sent => ({ delivered: false, latencyMs: 0, error })

const toResult = (response: Answer, startedAt: number, error: string | undefined): Sent => ({
  delivered: error === undefined,
  ...(response.status === undefined ? {} : { status: response.status, body: response.text }),
  latencyMs: Math.round(performance.now() - startedAt),
  ...(error === undefined ? {} : { error }),
  ...(response.retryAfter === undefined ? {} : { retryAfter: response.retryAfter }),
  ...(response.status === 410 ? { stop: "The receiver answered 410: it wants no more deliveries" } : {})
})

const describeTimeout = ({ status }: Answer, host: string, timeoutMs: number) =>
  status === undefined
    ? `${host} did not answer within ${timeoutMs / 1000} s`
    : `${host} answered ${status} but did not come to an end within ${timeoutMs / 1000} s`

const describeFailure = (failure: Broken | Refused, host: string) =>
  failure._tag === "RequestFailed" ? troubleOf(failure.cause, host) : `Earlier deliveries to ${host} take too long`

const defaultTimeoutMs = 15_000

/** Fails an attempt in the queue when too little of its timeout would remain for the response. */
const maxQueueWaitOf = (timeoutMs: number) => timeoutMs / 3

const make = Effect.gen(function* () {
  const guard = yield* Targets
  const agent = yield* makeConnections
  // The worker's slots already bound the queue.
  const limits = {
    permits: Number.POSITIVE_INFINITY,
    maxPerKey: mostConnections,
    maxQueuedPerKey: Number.POSITIVE_INFINITY,
    maxQueued: Number.POSITIVE_INFINITY,
    timeout: defaultTimeoutMs
  }
  const originSemaphore = makeFairSemaphore(limits, identity)

  const post = (attempt: Attempt, url: URL) => {
    const { tenant, timeoutMs = defaultTimeoutMs } = attempt
    const host = url.hostname
    const response = new Answer()
    let startedAt = performance.now()

    const sending = Effect.suspend(() => {
      startedAt = performance.now()
      return exchange(agent, buildRequest(attempt, url), response)
    })
    // The second key shares the connections of an origin fairly among tenants.
    const keys = [url.origin, `${url.origin} ${tenant}`]
    return originSemaphore.withPermit(keys, sending, { timeout: maxQueueWaitOf(timeoutMs) }).pipe(
      Effect.match({
        onFailure: (failure) => describeFailure(failure, host),
        onSuccess: () => faultOfStatus(response.status ?? 0, host)
      }),
      Effect.timeoutTo({
        duration: timeoutMs,
        onSuccess: (error) => error,
        onTimeout: () => describeTimeout(response, host, timeoutMs)
      }),
      Effect.map((error) => toResult(response, startedAt, error))
    )
  }

  return {
    /** Makes one attempt. Never fails, and ends within the timeout. */
    send: (attempt: Attempt): Effect.Effect<Sent> =>
      Effect.suspend(() =>
        Either.match(guard.read(attempt.url), {
          onLeft: ({ message }) => Effect.succeed(makeUnsent(message)),
          onRight: (url) => post(attempt, url)
        })
      )
  }
})

/** Sends events over HTTP, signed according to Standard Webhooks. */
export class WebhookSender extends Effect.Service<WebhookSender>()("layers/WebhookSender", {
  dependencies: [Targets.Default],
  scoped: make
}) {}
