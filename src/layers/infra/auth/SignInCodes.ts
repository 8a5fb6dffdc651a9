import { hash, randomBytes } from "node:crypto"

/** How long a code can be redeemed. */
export const codeLifetimeMs = 10 * 60_000

/** Bounds the memory. The oldest code goes first. */
export const maxCodes = 100

interface IssuedCode {
  readonly subject: string
  readonly expiresAt: number
}

const digestOf = (code: string) => hash("sha256", code, "base64url")

/** One-time codes that a browser exchanges for a development token. They live in the memory of one api process. */
export class SignInCodes {
  readonly #issued = new Map<string, IssuedCode>()

  /** A new code for a subject. Times in milliseconds. */
  issue(subject: string, now: number) {
    const [oldest] = this.#issued.keys()
    if (oldest !== undefined && this.#issued.size >= maxCodes) this.#issued.delete(oldest)
    const code = randomBytes(32).toString("base64url")
    this.#issued.set(digestOf(code), { subject, expiresAt: now + codeLifetimeMs })
    return code
  }

  /** The subject of a code, once, and only before the code expires. */
  redeem(code: string, now: number) {
    const digest = digestOf(code)
    const issued = this.#issued.get(digest)
    this.#issued.delete(digest)
    return issued !== undefined && issued.expiresAt > now ? issued.subject : undefined
  }
}
