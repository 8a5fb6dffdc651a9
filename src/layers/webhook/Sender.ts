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

/** One attempt to deliver an event. The newest secret comes first; `now` is in milliseconds. */
export interface Attempt {
  readonly tenant: string
  readonly url: string
  readonly id: string
  readonly body: Uint8Array
  readonly secrets: ReadonlyArray<string>
  readonly now: number
  readonly timeoutMs?: number
}

const requestOf = ({ body, id, now, secrets }: Attempt, url: URL): Dispatcher.DispatchOptions => ({
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

const unsent = (error: string): Sent => ({ delivered: false, latencyMs: 0, error })

const outcomeOf = (answer: Answer, begun: number, error: string | undefined): Sent => ({
  delivered: error === undefined,
  ...(answer.status === undefined ? {} : { status: answer.status, body: answer.text }),
  latencyMs: Math.round(performance.now() - begun),
  ...(error === undefined ? {} : { error }),
  ...(answer.retryAfter === undefined ? {} : { retryAfter: answer.retryAfter }),
  ...(answer.status === 410 ? { stop: "The receiver answered 410: it wants no more deliveries" } : {})
})

const tooLate = ({ status }: Answer, host: string, timeoutMs: number) =>
  status === undefined
    ? `${host} did not answer within ${timeoutMs / 1000} s`
    : `${host} answered ${status} but did not come to an end within ${timeoutMs / 1000} s`

const errorOf = (failure: Broken | Refused, host: string) =>
  failure._tag === "Broken" ? troubleOf(failure.cause, host) : `Earlier deliveries to ${host} take too long`

const defaultTimeoutMs = 15_000

/** An attempt that would have hardly any time left for an answer does not begin. */
const maxWaitOf = (timeoutMs: number) => timeoutMs / 3

const make = Effect.gen(function* () {
  const targets = yield* Targets
  const agent = yield* makeConnections
  // The slots of the worker bound how many wait.
  const limits = {
    permits: Number.POSITIVE_INFINITY,
    maxPerKey: mostConnections,
    maxQueuedPerKey: Number.POSITIVE_INFINITY,
    maxQueued: Number.POSITIVE_INFINITY,
    timeout: defaultTimeoutMs
  }
  const origins = makeFairSemaphore(limits, identity)

  const post = (attempt: Attempt, url: URL) => {
    const { tenant, timeoutMs = defaultTimeoutMs } = attempt
    const host = url.hostname
    const answer = new Answer()
    let begun = performance.now()

    const sending = Effect.suspend(() => {
      begun = performance.now()
      return exchange(agent, requestOf(attempt, url), answer)
    })
    // Tenants whose receivers share an origin take turns at its connections.
    const keys = [url.origin, `${url.origin} ${tenant}`]
    return origins.withPermit(keys, sending, { timeout: maxWaitOf(timeoutMs) }).pipe(
      Effect.match({
        onFailure: (failure) => errorOf(failure, host),
        onSuccess: () => faultOfStatus(answer.status ?? 0, host)
      }),
      Effect.timeoutTo({
        duration: timeoutMs,
        onSuccess: (error) => error,
        onTimeout: () => tooLate(answer, host, timeoutMs)
      }),
      Effect.map((error) => outcomeOf(answer, begun, error))
    )
  }

  return {
    /** Sends once, wherever that leads; never longer than the timeout. */
    send: (attempt: Attempt): Effect.Effect<Sent> =>
      Effect.suspend(() =>
        Either.match(targets.read(attempt.url), {
          onLeft: ({ message }) => Effect.succeed(unsent(message)),
          onRight: (url) => post(attempt, url)
        })
      )
  }
})

/** Sends events to receivers by HTTP, as Standard Webhooks describes. */
export class WebhookSender extends Effect.Service<WebhookSender>()("layers/WebhookSender", {
  dependencies: [Targets.Default],
  scoped: make
}) {}
