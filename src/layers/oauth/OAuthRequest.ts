import { Data, Effect } from "effect"
import { parseProviderJson } from "../providerHttp/ProviderJson.ts"

/** The provider sent no usable response. Whether it executed the request is unknown. */
export class ProviderUnavailable extends Data.TaggedError("ProviderUnavailable")<{ readonly problem: string }> {
  override get message() {
    return `The provider ${this.problem}`
  }
}

export interface OAuthResponse {
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
    if (size > maxResponseBytes) throw new ProviderUnavailable({ problem: "answered more than is read" })
    chunks.push(chunk)
  }
  return Buffer.concat(chunks).toString()
}

/** Omits the cause: its text may contain a secret from the request. */
const toProviderUnavailable = (cause: unknown) => {
  if (cause instanceof ProviderUnavailable) return cause
  const isTimeout = cause instanceof Error && (cause.name === "TimeoutError" || cause.name === "AbortError")
  return new ProviderUnavailable({ problem: isTimeout ? "did not answer in time" : "could not be reached" })
}

/** Sends one request with a timeout and a maximum response size. Follows no redirects; fails on 5xx, 429 and 408. */
export const sendOAuthRequest = (
  url: string,
  request: RequestInit = {}
): Effect.Effect<OAuthResponse, ProviderUnavailable> =>
  Effect.tryPromise({
    try: async (interruption) => {
      const signal = AbortSignal.any([interruption, AbortSignal.timeout(timeoutMs)])
      const response = await fetch(url, { ...request, redirect: "manual", signal })
      return { status: response.status, body: parseProviderJson(await readBody(response)) }
    },
    catch: toProviderUnavailable
  }).pipe(
    Effect.filterOrFail(
      ({ status }) => status < 500 && status !== 429 && status !== 408,
      ({ status }) => new ProviderUnavailable({ problem: `answered ${status}` })
    )
  )
