import type { SqlError } from "@effect/sql/SqlError"
import { Effect, Struct } from "effect"
import { Gauge, type Registry } from "prom-client"

/**
 * Numbers that are read from the database when somebody asks, so that they are the same whichever process is asked. Tells
 * what reads them anew.
 */
export const makeBacklog = <Name extends string>(
  registry: Registry,
  helps: Readonly<Record<Name, string>>,
  reading: Effect.Effect<ReadonlyArray<Readonly<Record<Name, number>>>, SqlError>
) => {
  const gauges = Struct.keys(helps).map(
    (name) => [name, new Gauge({ name, help: helps[name], registers: [registry] })] as const
  )

  /** A number that is not known is not told, rather than an old one. */
  const set = (numbers: Readonly<Record<Name, number>> | undefined) => {
    for (const [name, gauge] of gauges) {
      if (numbers === undefined) gauge.remove()
      else gauge.set(Math.max(0, numbers[name]))
    }
  }

  /** Once a second at the most, since anyone may ask. A database that does not answer hides nothing of the process. */
  return reading.pipe(
    // The statement itself cannot be interrupted, so it is left behind.
    Effect.disconnect,
    Effect.timeout("2 seconds"),
    Effect.match({ onFailure: () => undefined, onSuccess: ([numbers]) => numbers }),
    Effect.map(set),
    Effect.cachedWithTTL("1 second")
  )
}
