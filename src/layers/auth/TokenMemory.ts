import type { Principal } from "../../domain/tenancy/Caller.ts"

interface Verified {
  readonly principal: Principal["Type"]
  readonly until: number
}

/** Long enough to spare a busy caller the work, short enough for a withdrawn key to be felt. */
export const longestMemory = 60_000
export const mostRemembered = 10_000

/** Whom verified tokens speak for, newest last, so that the front is what to forget first. Times in milliseconds. */
export class TokenMemory {
  readonly #verified = new Map<string, Verified>()

  recall(digest: string, now: number) {
    const known = this.#verified.get(digest)
    if (known === undefined || known.until > now) return known?.principal
    this.#verified.delete(digest)
    return undefined
  }

  keep(digest: string, principal: Principal["Type"], expires: number, now: number) {
    const [oldest] = this.#verified.keys()
    if (oldest !== undefined && this.#verified.size >= mostRemembered) this.#verified.delete(oldest)
    this.#verified.set(digest, { principal, until: Math.min(expires, now + longestMemory) })
  }
}
