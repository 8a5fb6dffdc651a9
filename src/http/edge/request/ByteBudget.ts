/** Bounds the bytes that are in memory at a time, per key and in all. */
export class ByteBudget {
  readonly #maxPerKey: number
  readonly #max: number
  readonly #used = new Map<string, number>()
  #total = 0

  constructor(limits: { readonly maxPerKey: number; readonly max: number }) {
    this.#maxPerKey = limits.maxPerKey
    this.#max = limits.max
  }

  /** Takes bytes for a key; tells whether they were to be had. */
  tryTake(key: string, bytes: number) {
    const used = (this.#used.get(key) ?? 0) + bytes
    if (used > this.#maxPerKey || this.#total + bytes > this.#max) return false
    this.#used.set(key, used)
    this.#total += bytes
    return true
  }

  giveBack(key: string, bytes: number) {
    const used = (this.#used.get(key) ?? 0) - bytes
    if (used > 0) this.#used.set(key, used)
    else this.#used.delete(key)
    this.#total -= bytes
  }
}
