import type { SqlError } from "@effect/sql/SqlError"
import { Effect, Struct } from "effect"
import { Gauge, type Registry } from "prom-client"

/**
 * Gauges that are read from the database, so that every process reports the same values. Returns the effect that
 * refreshes them.
 */
export const makeBacklogGauges = <Name extends string>(
  registry: Registry,
  helpTexts: Readonly<Record<Name, string>>,
  query: Effect.Effect<ReadonlyArray<Readonly<Record<Name, number>>>, SqlError>
) => {
  const gauges = Struct.keys(helpTexts).map(
    (name) => [name, new Gauge({ name, help: helpTexts[name], registers: [registry] })] as const
  )

  /** An unknown value is removed, because a stale one would mislead. */
  const set = (values: Readonly<Record<Name, number>> | undefined) => {
    for (const [name, gauge] of gauges) {
      if (values === undefined) gauge.remove()
      else gauge.set(Math.max(0, values[name]))
    }
  }

  /** Cached for a second against frequent scrapes. A database failure does not fail the scrape of the other metrics. */
  return query.pipe(
    // The statement is not interruptible: after the timeout it runs on in the background.
    Effect.disconnect,
    Effect.timeout("2 seconds"),
    Effect.match({ onFailure: () => undefined, onSuccess: ([values]) => values }),
    Effect.map(set),
    Effect.cachedWithTTL("1 second")
  )
}
