import type { Principal } from "../../domain/tenancy/Caller.ts"

interface CachedToken {
  readonly principal: Principal["Type"]
  readonly expiresAt: number
}

/** In milliseconds. It bounds how long a token stays valid after its key is revoked. */
export const longestMemory = 60_000
export const mostRemembered = 10_000

/** The principals of verified tokens, by digest. A full cache evicts the oldest entry. Times in milliseconds. */
export class TokenMemory {
  readonly #verified = new Map<string, CachedToken>()

  recall(digest: string, now: number) {
    const cached = this.#verified.get(digest)
    if (cached === undefined || cached.expiresAt > now) return cached?.principal
    this.#verified.delete(digest)
    return undefined
  }

  keep(digest: string, principal: Principal["Type"], expires: number, now: number) {
    const [oldest] = this.#verified.keys()
    if (oldest !== undefined && this.#verified.size >= mostRemembered) this.#verified.delete(oldest)
    this.#verified.set(digest, { principal, expiresAt: Math.min(expires, now + longestMemory) })
  }
}
