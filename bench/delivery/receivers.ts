import { Effect } from "effect"
import { startHelperProcess } from "../support/helperProcess.ts"
import type { Arrival, Behaviour, ReceiverCommand } from "./receivers/commands.ts"

const entry = "delivery/receivers/main"

/** Webhook receivers in a process of their own. `commands.ts` defines the result of each command. */
export const startReceivers = Effect.gen(function* () {
  const send = yield* startHelperProcess<ReceiverCommand>(entry)
  const countArrivals = () => send({ command: "count" }) as Promise<number>
  const takeArrivals = () => send({ command: "take" }) as Promise<ReadonlyArray<Arrival>>

  return {
    /** Opens receivers and returns their ports. */
    open: (countArrivals: number) => send({ command: "open", count: countArrivals }) as Promise<ReadonlyArray<number>>,
    setBehaviour: (port: number, behaviour: Behaviour) => send({ command: "behave", port, behaviour }),
    takeArrivals,
    /** Returns the arrivals once there are `expected`, or once none arrived for `idleTimeoutMillis`. */
    waitForArrivals: async (expected: number, idleTimeoutMillis = 20_000) => {
      let last = { count: 0, at: Date.now() }
      for (;;) {
        const arrived = await countArrivals()
        if (arrived >= expected || Date.now() - last.at > idleTimeoutMillis) return takeArrivals()
        if (arrived > last.count) last = { count: arrived, at: Date.now() }
        await new Promise((resolve) => setTimeout(resolve, 50))
      }
    }
  }
})

export type Receivers = Effect.Effect.Success<typeof startReceivers>
