import { type ChildProcess, fork } from "node:child_process"
import { fileURLToPath } from "node:url"
import { Effect } from "effect"
import { bundleBeside } from "../servers.ts"
import type { Arrival, Behaviour, Order } from "./receivers/orders.ts"

const entry = "delivery/receivers/main"

const makeAsk = (child: ChildProcess) => {
  const asked: Array<(answer: unknown) => void> = []
  child.on("message", ({ answer }: { readonly answer?: unknown }) => asked.shift()?.(answer))
  return (order: Order) =>
    new Promise<unknown>((resolve) => {
      if (!child.connected) return // nobody waits for it any more
      asked.push(resolve)
      child.send(order)
    })
}

/** Receivers of webhooks in a process of their own, which ends with ours. What it answers is what orders.ts says. */
export const startReceivers = Effect.gen(function* () {
  yield* bundleBeside([entry])
  const child = yield* Effect.acquireRelease(
    Effect.sync(() => fork(fileURLToPath(new URL(`${entry}.js`, import.meta.url)), { detached: true })),
    (child) => Effect.sync(() => child.disconnect())
  )
  const ask = makeAsk(child)
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
