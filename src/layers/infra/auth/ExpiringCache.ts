interface Entry<A> {
  readonly value: A
  readonly expiresAt: number
}

/** Values that expire. A full cache evicts the oldest one. Times in milliseconds. */
export class ExpiringCache<A> {
  readonly #entries = new Map<string, Entry<A>>()
  readonly #maxEntries: number

  constructor(maxEntries: number) {
    this.#maxEntries = maxEntries
  }

  get(key: string, now: number) {
    const entry = this.#entries.get(key)
    if (entry === undefined || entry.expiresAt > now) return entry?.value
    this.#entries.delete(key)
    return undefined
  }

  set(key: string, value: A, expiresAt: number) {
    this.#entries.delete(key)
    const [oldest] = this.#entries.keys()
    if (oldest !== undefined && this.#entries.size >= this.#maxEntries) this.#entries.delete(oldest)
    this.#entries.set(key, { value, expiresAt })
  }

  delete(key: string) {
    this.#entries.delete(key)
  }
}
