import { type QueueFull, queueFull } from "./KeyQueue.ts"

export interface BudgetLimits {
  readonly maxPerKey: number
  readonly max: number
}

/**
 * Bounds a shared amount, in total and per key, without a queue. A key may use at most as much as is still free: n
 * greedy keys leave 1/(n + 1) of the total to the next (dynamic thresholds, as in the shared buffers of network
 * switches).
 */
export class KeyedBudget {
  readonly #limits: BudgetLimits
  readonly #used = new Map<string, number>()
  #total = 0

  constructor(limits: BudgetLimits) {
    this.#limits = limits
  }

  /** Returns an error when these keys cannot take the amount. */
  rejectionFor(keys: ReadonlyArray<string>, amount: number): QueueFull | undefined {
    let used = 0
    for (const key of keys) used = Math.max(used, this.#used.get(key) ?? 0)
    const { max, maxPerKey } = this.#limits
    if (used + amount <= Math.min(maxPerKey, max - this.#total)) return undefined
    return used > 0 || amount > maxPerKey ? queueFull.key : queueFull.all
  }

  /** Charges the amount to each of the keys, even beyond the limits: the caller checks them first. */
  acquire(keys: ReadonlyArray<string>, amount: number) {
    this.#total += amount
    for (const key of keys) this.#used.set(key, (this.#used.get(key) ?? 0) + amount)
  }

  release(keys: ReadonlyArray<string>, amount: number) {
    this.#total -= amount
    for (const key of keys) {
      const used = (this.#used.get(key) ?? 0) - amount
      if (used > 0) this.#used.set(key, used)
      else this.#used.delete(key)
    }
  }
}
