import { Duration, Effect } from "effect"
import { startHelperProcess } from "../support/helperProcess.ts"
import type { Measurements, VictimCommand } from "./victim/commands.ts"

interface CommandResult {
  readonly value?: unknown
  readonly error?: string
}

/** In a process of its own, so that the CPU use of the attacker does not slow it down. */
export const startVictim = Effect.map(
  startHelperProcess<VictimCommand>("victim/main", "bench/neighbours"),
  (sendCommand) => {
    const send = async (command: VictimCommand) => {
      const { value, error } = (await sendCommand(command)) as CommandResult // see victim/main.ts
      if (error !== undefined) throw new Error(`The victim: ${error}`)
      return value
    }
    return {
      prepare: (baseUrl: string, token: string, invoiceCount: number) =>
        send({ command: "prepare", baseUrl, token, invoiceCount }),
      waitUntilPrompt: () => send({ command: "waitUntilPrompt" }),
      /** Returns what the victim measures in this time. */
      measure: (seconds: number) =>
        Effect.promise(() => send({ command: "startMeasurement" })).pipe(
          Effect.zipRight(Effect.sleep(Duration.seconds(seconds))),
          Effect.zipRight(Effect.promise(() => send({ command: "stopMeasurement" }) as Promise<Measurements>)) // see victim/main.ts
        )
    }
  }
)

export type Victim = Effect.Effect.Success<typeof startVictim>
