import { Data, Effect } from "effect"
import { readProviderJson } from "../providerHttp/ProviderJson.ts"

/** The provider sent no usable response. Whether it executed the request is unknown. */
export class ProviderAway extends Data.TaggedError("ProviderAway")<{ readonly what: string }> {
  override get message() {
    return `The provider ${this.what}`
  }
}

export interface Told {
  readonly status: number
  /** The parsed JSON. Undefined when the body is not JSON. */
  readonly body: unknown
}

const timeoutMs = 10_000
const maxResponseBytes = 1024 * 1024

const readBody = async (response: Response) => {
  const chunks: Array<Uint8Array> = []
  let size = 0
  for await (const chunk of response.body ?? []) {
    size += chunk.length
    if (size > maxResponseBytes) throw new ProviderAway({ what: "answered more than is read" })
    chunks.push(chunk)
  }
  return Buffer.concat(chunks).toString()
}

/** Omits the cause: its text may contain a secret from the request. */
const toProviderUnavailable = (cause: unknown) => {
  if (cause instanceof ProviderAway) return cause
  const isTimeout = cause instanceof Error && (cause.name === "TimeoutError" || cause.name === "AbortError")
  return new ProviderAway({ what: isTimeout ? "did not answer in time" : "could not be reached" })
}

/** Sends one request with a timeout and a maximum response size. Follows no redirects; fails on 5xx, 429 and 408. */
export const ask = (url: string, request: RequestInit = {}): Effect.Effect<Told, ProviderAway> =>
  Effect.tryPromise({
    try: async (interruption) => {
      const signal = AbortSignal.any([interruption, AbortSignal.timeout(timeoutMs)])
      const response = await fetch(url, { ...request, redirect: "manual", signal })
      return { status: response.status, body: readProviderJson(await readBody(response)) }
    },
    catch: toProviderUnavailable
  }).pipe(
    Effect.filterOrFail(
      ({ status }) => status < 500 && status !== 429 && status !== 408,
      ({ status }) => new ProviderAway({ what: `answered ${status}` })
    )
  )
