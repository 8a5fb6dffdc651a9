import { QueueFull } from "./FairSemaphore.ts"

export interface BudgetLimits {
  readonly maxPerKey: number
  readonly max: number
}

/**
 * Bounds how much of something is taken at a time. Nobody waits for it. A key may hold at most as much as is still free,
 * so a few greedy keys never use it up: n of them leave one part in n + 1 to the next (dynamic thresholds, as in the
 * shared buffers of network switches).
 */
export class KeyedBudget {
  readonly #limits: BudgetLimits
  readonly #used = new Map<string, number>()
  #total = 0

  constructor(limits: BudgetLimits) {
    this.#limits = limits
  }

  /** Why these keys cannot take an amount, if they cannot. */
  refusal(keys: ReadonlyArray<string>, amount: number): QueueFull | undefined {
    let used = 0
    for (const key of keys) used = Math.max(used, this.#used.get(key) ?? 0)
    const { max, maxPerKey } = this.#limits
    if (used + amount <= Math.min(maxPerKey, max - this.#total)) return undefined
    return new QueueFull({ scope: used > 0 || amount > maxPerKey ? "key" : "all" })
  }

  /** Takes an amount for each of the keys, whether or not there is as much. */
  take(keys: ReadonlyArray<string>, amount: number) {
    this.#total += amount
    for (const key of keys) this.#used.set(key, (this.#used.get(key) ?? 0) + amount)
  }

  giveBack(keys: ReadonlyArray<string>, amount: number) {
    this.#total -= amount
    for (const key of keys) {
      const used = (this.#used.get(key) ?? 0) - amount
      if (used > 0) this.#used.set(key, used)
      else this.#used.delete(key)
    }
  }
}
