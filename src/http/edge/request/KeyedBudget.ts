/** Bounds how much of something is taken at a time, per key and in all. Nobody waits for it. */
export class KeyedBudget {
  readonly #maxPerKey: number
  readonly #max: number
  readonly #used = new Map<string, number>()
  #total = 0

  constructor(limits: { readonly maxPerKey: number; readonly max: number }) {
    this.#maxPerKey = limits.maxPerKey
    this.#max = limits.max
  }

  /** Takes an amount for a key; tells whether there was as much. */
  tryTake(key: string, amount: number) {
    const used = (this.#used.get(key) ?? 0) + amount
    if (used > this.#maxPerKey || this.#total + amount > this.#max) return false
    this.#used.set(key, used)
    this.#total += amount
    return true
  }

  giveBack(key: string, amount: number) {
    const used = (this.#used.get(key) ?? 0) - amount
    if (used > 0) this.#used.set(key, used)
    else this.#used.delete(key)
    this.#total -= amount
  }
}
