import { Array as Arrays } from "effect"

/** An event with one receiver that it goes to, or none. `total` counts the receivers that are left. */
export interface EventMatch {
  /** The `ctid` of the feed row. It is stable because the transaction has locked the row. */
  readonly row: string
  readonly tenant: string
  readonly event: string
  readonly type: string
  readonly resource: string
  readonly sequence: number
  readonly position: number
  readonly integration: string | null
  /** The address of a mail. */
  readonly recipient: string | null
  /** Who requested a mail through the mail server of the operator, which quotas count: empty if nobody is known. */
  readonly sharedMailBy: string | null
  readonly total: number | null
}

/** A match with an integration: it becomes a delivery. */
export interface DeliveryMatch extends EventMatch {
  readonly integration: string
}

/** The update of an event's feed row. */
export interface FeedUpdate {
  readonly row: string
  readonly tenant: string
  readonly event: string
  readonly done: boolean
  readonly upTo: string | null
}

const hasIntegration = (match: EventMatch): match is DeliveryMatch => match.integration !== null

const isComplete = (found: Arrays.NonEmptyReadonlyArray<EventMatch>) =>
  found[0].integration === null || found[0].total === found.length

/** The place of a receiver in the order of the fan-out. */
const cursorOf = ({ integration, recipient }: EventMatch) =>
  recipient === null ? integration : `${integration}/${recipient}`

/**
 * Decides how far to fan each event out. An event with more receivers than the batch found stops at the last one
 * found. Later events of the same resource wait for a later batch.
 */
export const planFanOut = (matches: ReadonlyArray<EventMatch>) => {
  const unfinishedResources = new Set<string>()
  const steps: Array<FeedUpdate> = []
  const deliveries: Array<DeliveryMatch> = []
  const events = Object.values(Arrays.groupBy(matches, ({ event, tenant }) => `${tenant} ${event}`))
  for (const found of events.sort(([a], [b]) => a.position - b.position)) {
    const { event, resource, row, tenant } = found[0]
    const resourceKey = `${tenant} ${resource}`
    if (unfinishedResources.has(resourceKey)) continue
    const done = isComplete(found)
    if (!done) unfinishedResources.add(resourceKey)
    for (const match of found) if (hasIntegration(match)) deliveries.push(match)
    const last = found.at(-1)
    steps.push({ row, tenant, event, done, upTo: done || last === undefined ? null : cursorOf(last) })
  }
  return { steps, deliveries }
}
