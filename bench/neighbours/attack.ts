import { setMaxListeners } from "node:events"
import { Effect } from "effect"
import type { Attacker } from "./attacker.ts"
import type { Attack } from "./row.ts"

export const getMessage = (error: unknown) => (error instanceof Error ? error.message : String(error))

/** Runs the attack until the scope closes. An attack that fails is reported with its responses, not as our failure. */
export const runAttack = ({ run }: Attack, attacker: Attacker) =>
  Effect.acquireRelease(
    Effect.sync(() => {
      const controller = new AbortController()
      // One listener per concurrent request.
      setMaxListeners(0, controller.signal)
      const done = run(controller.signal).catch((error) => attacker.countResponse(`stopped (${getMessage(error)})`))
      return { controller, done }
    }),
    ({ done, controller }) =>
      Effect.promise(() => {
        controller.abort()
        return done
      })
  )
