import { Data, Effect } from "effect"
import { readProviderJson } from "../providerHttp/ProviderJson.ts"

/** A provider that did not answer, or not with anything to go by. What was asked of it may have been done or not. */
export class ProviderAway extends Data.TaggedError("ProviderAway")<{ readonly what: string }> {
  override get message() {
    return `The provider ${this.what}`
  }
}

export interface Told {
  readonly status: number
  /** What the answer says, when that is JSON. */
  readonly body: unknown
}

const patience = 10_000
const mostBytes = 1024 * 1024

const read = async (response: Response) => {
  const pieces: Array<Uint8Array> = []
  let size = 0
  for await (const piece of response.body ?? []) {
    size += piece.length
    if (size > mostBytes) throw new ProviderAway({ what: "answered more than is read" })
    pieces.push(piece)
  }
  return Buffer.concat(pieces).toString()
}

/** Says what went wrong and nothing of what was sent, since that may be a secret. */
const trouble = (cause: unknown) => {
  if (cause instanceof ProviderAway) return cause
  const isLate = cause instanceof Error && (cause.name === "TimeoutError" || cause.name === "AbortError")
  return new ProviderAway({ what: isLate ? "did not answer in time" : "could not be reached" })
}

/** One request to a provider: bounded in time and size, and led nowhere else. Its own troubles are no answers. */
export const ask = (url: string, request: RequestInit = {}): Effect.Effect<Told, ProviderAway> =>
  Effect.tryPromise({
    try: async (interrupted) => {
      const signal = AbortSignal.any([interrupted, AbortSignal.timeout(patience)])
      const response = await fetch(url, { ...request, redirect: "manual", signal })
      return { status: response.status, body: readProviderJson(await read(response)) }
    },
    catch: trouble
  }).pipe(
    Effect.filterOrFail(
      ({ status }) => status < 500 && status !== 429 && status !== 408,
      ({ status }) => new ProviderAway({ what: `answered ${status}` })
    )
  )
