import { Duration, Effect } from "effect"
import { startHelperProcess } from "../bench/support/helperProcess.ts"
import type { Figures, Order } from "./victim/orders.ts"

interface Outcome {
  readonly done?: unknown
  readonly fault?: string
}

/** The victim, in a process of its own: what the attack costs us must not look like slowness of the service. */
export const startVictim = Effect.map(startHelperProcess<Order>("victim/main", "neighbours"), (ask) => {
  const order = async (one: Order) => {
    const { done, fault } = (await ask(one)) as Outcome // what victim/main.ts answers
    if (fault !== undefined) throw new Error(`The victim: ${fault}`)
    return done
  }
  return {
    prepare: (base: string, token: string, invoices: number) => order({ order: "prepare", base, token, invoices }),
    settle: () => order({ order: "settle" }),
    /** What the victim notices of so many seconds. */
    measure: (seconds: number) =>
      Effect.promise(() => order({ order: "begin" })).pipe(
        Effect.zipRight(Effect.sleep(Duration.seconds(seconds))),
        Effect.zipRight(Effect.promise(() => order({ order: "end" }) as Promise<Figures>)) // what victim/main.ts answers
      )
  }
})

export type Victim = Effect.Effect.Success<typeof startVictim>
