import { Array as Arrays } from "effect"

/** An event that is ready, with one integration it concerns, or none; `total` is how many those are from here on. */
export interface Match {
  /** Where the row of the feed lies. The transaction has locked it, so it stays there. */
  readonly row: string
  readonly tenant: string
  readonly event: string
  readonly type: string
  readonly resource: string
  readonly sequence: number
  readonly position: number
  readonly integration: string | null
  readonly total: number | null
}

/** A match that becomes a delivery. */
export interface Concerned extends Match {
  readonly integration: string
}

/** The update of an event's row in the feed. */
export interface Step {
  readonly row: string
  readonly tenant: string
  readonly event: string
  readonly done: boolean
  readonly upTo: string | null
}

const isConcerned = (match: Match): match is Concerned => match.integration !== null

const isWhole = (found: Arrays.NonEmptyReadonlyArray<Match>) =>
  found[0].integration === null || found[0].total === found.length

/**
 * Decides how far each event goes. One with more integrations than found is taken up to the last found, and the events
 * behind it of the same resource are left for another time.
 */
export const planFanOut = (matches: ReadonlyArray<Match>) => {
  const unfinished = new Set<string>()
  const steps: Array<Step> = []
  const deliveries: Array<Concerned> = []
  const events = Object.values(Arrays.groupBy(matches, ({ event, tenant }) => `${tenant} ${event}`))
  for (const found of events.sort(([a], [b]) => a.position - b.position)) {
    const { event, resource, row, tenant } = found[0]
    const owned = `${tenant} ${resource}`
    if (unfinished.has(owned)) continue
    const done = isWhole(found)
    if (!done) unfinished.add(owned)
    for (const match of found) if (isConcerned(match)) deliveries.push(match)
    steps.push({ row, tenant, event, done, upTo: done ? null : (found.at(-1)?.integration ?? null) })
  }
  return { steps, deliveries }
}
