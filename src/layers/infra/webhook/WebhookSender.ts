import { createHmac, randomBytes } from "node:crypto"
import { Effect, Either, identity } from "effect"
import type { Dispatcher } from "undici"
import { receiverTimeoutMs } from "../../../domain/delivery/Delivery.ts"
import type { SendResult } from "../../../domain/delivery/SendResult.ts"
import { makeFairSemaphore } from "../concurrency/FairSemaphore.ts"
import type { PermitRejection } from "../concurrency/KeyQueue.ts"
import { describeNetworkError, describeStatusError } from "./NetworkErrors.ts"
import { SsrfGuard } from "./SsrfGuard.ts"
import {
  dispatchRequest,
  makeWebhookAgent,
  maxConnectionsPerOrigin,
  type RequestFailed,
  ResponseCapture
} from "./WebhookClient.ts"

const secretPrefix = "whsec_"

/** Generates a signing secret in the format of Standard Webhooks. */
export const generateSigningSecret = () => `${secretPrefix}${randomBytes(32).toString("base64")}`

const keyOf = (secret: string) => Buffer.from(secret.slice(secretPrefix.length), "base64")

const sign = (secret: string, signedPrefix: string, body: Uint8Array) =>
  `v1,${createHmac("sha256", keyOf(secret)).update(signedPrefix).update(body).digest("base64")}`

/** The headers of Standard Webhooks. They carry one signature per secret, so that secrets can rotate. */
export const buildSignatureHeaders = (
  id: string,
  now: number,
  body: Uint8Array,
  secrets: ReadonlyArray<string>
): Readonly<Record<string, string>> => {
  const seconds = Math.floor(now / 1000)
  return {
    "webhook-id": id,
    "webhook-timestamp": String(seconds),
    "webhook-signature": secrets.map((secret) => sign(secret, `${id}.${seconds}.`, body)).join(" ")
  }
}

/** One attempt to deliver an event. The newest secret comes first; `now` is in epoch milliseconds. */
export interface WebhookDelivery {
  readonly tenant: string
  readonly url: string
  readonly id: string
  readonly body: Uint8Array
  readonly secrets: ReadonlyArray<string>
  readonly now: number
  readonly timeoutMs?: number
  readonly traceParent?: string | undefined
}

const buildRequest = (
  { body, id, now, secrets, traceParent }: WebhookDelivery,
  url: URL
): Dispatcher.DispatchOptions => ({
  origin: url.origin,
  path: `${url.pathname}${url.search}`,
  method: "POST",
  headers: {
    "content-type": "application/json",
    "user-agent": "contracting-webhooks/0.1",
    ...buildSignatureHeaders(id, now, body, secrets),
    ...(traceParent === undefined ? {} : { traceparent: traceParent })
  },
  body
})

const makeUnsent = (error: string): SendResult => ({ delivered: false, latencyMs: 0, error })

const toResult = (response: ResponseCapture, startedAt: number, error: string | undefined): SendResult => ({
  delivered: error === undefined,
  ...(response.status === undefined ? {} : { status: response.status, body: response.text }),
  latencyMs: Math.round(performance.now() - startedAt),
  ...(error === undefined ? {} : { error }),
  ...(response.retryAfter === undefined ? {} : { retryAfter: response.retryAfter }),
  ...(response.status === 410 ? { stop: "The receiver answered 410: it wants no more deliveries" } : {})
})

const describeTimeout = ({ status }: ResponseCapture, host: string, timeoutMs: number) =>
  status === undefined
    ? `${host} did not answer within ${timeoutMs / 1000} s`
    : `${host} answered ${status} but did not come to an end within ${timeoutMs / 1000} s`

const describeFailure = (failure: RequestFailed | PermitRejection, host: string) =>
  failure._tag === "RequestFailed"
    ? describeNetworkError(failure.cause, host)
    : `Earlier deliveries to ${host} take too long`

/** Fails an attempt in the queue when too little of its timeout would remain for the response. */
const maxQueueWaitOf = (timeoutMs: number) => timeoutMs / 3

const make = Effect.gen(function* () {
  const guard = yield* SsrfGuard
  const agent = yield* makeWebhookAgent
  // The worker's slots already bound the queue.
  const limits = {
    permits: Number.POSITIVE_INFINITY,
    maxPerKey: maxConnectionsPerOrigin,
    maxQueuedPerKey: Number.POSITIVE_INFINITY,
    maxQueued: Number.POSITIVE_INFINITY,
    timeout: receiverTimeoutMs
  }
  const originSemaphore = makeFairSemaphore(limits, identity)

  const post = (attempt: WebhookDelivery, url: URL) => {
    const { tenant, timeoutMs = receiverTimeoutMs } = attempt
    const host = url.hostname
    const response = new ResponseCapture()
    let startedAt = performance.now()

    const sending = Effect.suspend(() => {
      startedAt = performance.now()
      return dispatchRequest(agent, buildRequest(attempt, url), response)
    })
    // The second key shares the connections of an origin fairly among tenants.
    const keys = [url.origin, `${url.origin} ${tenant}`]
    return originSemaphore.withPermit(keys, sending, { timeout: maxQueueWaitOf(timeoutMs) }).pipe(
      Effect.match({
        onFailure: (failure) => describeFailure(failure, host),
        onSuccess: () => describeStatusError(response.status ?? 0, host)
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
    send: (attempt: WebhookDelivery): Effect.Effect<SendResult> =>
      Effect.suspend(() =>
        Either.match(guard.parseUrl(attempt.url), {
          onLeft: ({ message }) => Effect.succeed(makeUnsent(message)),
          onRight: (url) => post(attempt, url)
        })
      )
  }
})

/** Sends events over HTTP, signed according to Standard Webhooks. */
export class WebhookSender extends Effect.Service<WebhookSender>()("layers/WebhookSender", {
  dependencies: [SsrfGuard.Default],
  scoped: make
}) {}
