/** What one request leaves of a rate. */
export interface RateState {
  readonly isAllowed: boolean
  readonly remaining: number
  readonly resetSeconds: number
}

const windowSeconds = 60

/** A fixed number of requests per key in each minute of the clock. */
export class RateLimit {
  readonly name: string
  readonly quota: number
  readonly #counts = new Map<string, number>()
  #window = 0

  constructor(name: string, quota: number) {
    this.name = name
    this.quota = quota
  }

  take(key: string, nowMillis: number): RateState {
    const seconds = nowMillis / 1000
    const window = Math.floor(seconds / windowSeconds)
    if (window !== this.#window) {
      this.#window = window
      this.#counts.clear()
    }
    const count = (this.#counts.get(key) ?? 0) + 1
    this.#counts.set(key, count)
    return {
      isAllowed: count <= this.quota,
      remaining: Math.max(0, this.quota - count),
      resetSeconds: Math.ceil((window + 1) * windowSeconds - seconds)
    }
  }
}

const joined = (before: string | undefined, next: string) => (before === undefined ? next : `${before}, ${next}`)

/** Writes the state into the fields of the IETF draft (draft-ietf-httpapi-ratelimit-headers). */
export const addRateHeaders = (headers: Record<string, string>, { name, quota }: RateLimit, state: RateState) => {
  const { isAllowed, remaining, resetSeconds } = state
  headers["ratelimit-policy"] = joined(headers["ratelimit-policy"], `"${name}";q=${quota};w=${windowSeconds}`)
  headers["ratelimit"] = joined(headers["ratelimit"], `"${name}";r=${remaining};t=${resetSeconds}`)
  if (!isAllowed) headers["retry-after"] = String(resetSeconds)
}
