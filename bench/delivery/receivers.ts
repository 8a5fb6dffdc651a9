import { Effect } from "effect"
import { startHelper } from "../running/helper.ts"
import type { Arrival, Behaviour, Order } from "./receivers/orders.ts"

const entry = "delivery/receivers/main"

/** Receivers of webhooks in a process of their own, which ends with ours. What it answers is what orders.ts says. */
export const startReceivers = Effect.gen(function* () {
  const ask = yield* startHelper<Order>(entry)
  const count = () => ask({ order: "count" }) as Promise<number>
  const take = () => ask({ order: "take" }) as Promise<ReadonlyArray<Arrival>>

  return {
    /** Opens receivers, each on a port of its own. */
    open: (count: number) => ask({ order: "open", count }) as Promise<ReadonlyArray<number>>,
    behave: (port: number, as: Behaviour) => ask({ order: "behave", port, as }),
    take,
    /** Takes what arrived as soon as it is so much, or when nothing more came for a while. */
    takeAll: async (expected: number, patienceMs = 20_000) => {
      let last = { count: 0, at: Date.now() }
      for (;;) {
        const arrived = await count()
        if (arrived >= expected || Date.now() - last.at > patienceMs) return take()
        if (arrived > last.count) last = { count: arrived, at: Date.now() }
        await new Promise((resolve) => setTimeout(resolve, 50))
      }
    }
  }
})

export type Receivers = Effect.Effect.Success<typeof startReceivers>
