/** State of a rate limit after one request. */
export interface RateLimitState {
  readonly isAllowed: boolean
  readonly remaining: number
  readonly resetSeconds: number
}

const windowSeconds = 60

/** Fixed-window rate limit: a quota per key in each minute of the clock. */
export class RateLimit {
  readonly name: string
  readonly quota: number
  readonly #counts = new Map<string, number>()
  #window = 0

  constructor(name: string, quota: number) {
    this.name = name
    this.quota = quota
  }

  take(key: string, nowMillis: number): RateLimitState {
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

const appendItem = (list: string | undefined, item: string) => (list === undefined ? item : `${list}, ${item}`)

/** Adds the headers of draft-ietf-httpapi-ratelimit-headers. */
export const addRateLimitHeaders = (
  headers: Record<string, string>,
  { name, quota }: RateLimit,
  state: RateLimitState
) => {
  const { isAllowed, remaining, resetSeconds } = state
  headers["ratelimit-policy"] = appendItem(headers["ratelimit-policy"], `"${name}";q=${quota};w=${windowSeconds}`)
  headers["ratelimit"] = appendItem(headers["ratelimit"], `"${name}";r=${remaining};t=${resetSeconds}`)
  if (!isAllowed) headers["retry-after"] = String(resetSeconds)
}
