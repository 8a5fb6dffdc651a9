import type { Principal } from "../../domain/tenancy/RequestContext.ts"

interface CachedToken {
  readonly principal: Principal["Type"]
  readonly expiresAt: number
}

/** In milliseconds. It bounds how long a token stays valid after its key is revoked. */
export const maxCacheAgeMs = 60_000
export const maxCachedTokens = 10_000

/** The principals of verified tokens, by digest. A full cache evicts the oldest entry. Times in milliseconds. */
export class TokenCache {
  readonly #verified = new Map<string, CachedToken>()

  get(digest: string, now: number) {
    const cached = this.#verified.get(digest)
    if (cached === undefined || cached.expiresAt > now) return cached?.principal
    this.#verified.delete(digest)
    return undefined
  }

  set(digest: string, principal: Principal["Type"], expires: number, now: number) {
    const [oldest] = this.#verified.keys()
    if (oldest !== undefined && this.#verified.size >= maxCachedTokens) this.#verified.delete(oldest)
    this.#verified.set(digest, { principal, expiresAt: Math.min(expires, now + maxCacheAgeMs) })
  }
}
