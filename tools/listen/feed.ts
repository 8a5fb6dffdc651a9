import { setTimeout as pause } from "node:timers/promises"
import { ApiError, ConnectionError, type ContractingClient, type Event } from "../../dist/client/index.js"
import { UsageError } from "../common/connection.ts"

type EventType = NonNullable<Parameters<ContractingClient["events"]["feed"]>[0]>["type"]

interface FeedOptions {
  readonly type: EventType
  readonly signal: AbortSignal
  /** Hears when the service stops answering, and when it answers again. */
  readonly onAvailability: (isAvailable: boolean) => void
}

const pageSize = 200
const pollMs = 500

/** Goes to the end of the feed. Returns its last event, if there is any. */
export const findEnd = async (api: ContractingClient, signal: AbortSignal) => {
  let last: string | undefined
  for await (const page of api.events.feed({ limit: pageSize }, { signal }).pages()) last = page.at(-1)?.id ?? last
  return last
}

const isOutage = (error: unknown) =>
  error instanceof ConnectionError || (error instanceof ApiError && (error.status >= 500 || error.status === 429))

const explain = (error: unknown, after: string | undefined) =>
  error instanceof ApiError && error.details.some(({ field }) => field === "after")
    ? new UsageError(
        `The feed has no event ${after}; it may be too old. Begin elsewhere with --from start or --from now.`
      )
    : error

/** Reads the events after the given one, waits for more, and goes on where it was when the service comes back. */
export async function* followFeed(
  api: ContractingClient,
  start: string | undefined,
  { onAvailability, signal, type }: FeedOptions
): AsyncGenerator<Event, void, undefined> {
  let after = start
  let isAvailable = true
  const setAvailable = (next: boolean) => {
    if (next !== isAvailable) onAvailability(next)
    isAvailable = next
  }
  while (!signal.aborted) {
    const query = {
      limit: pageSize,
      ...(after === undefined ? {} : { after }),
      ...(type === undefined ? {} : { type })
    }
    try {
      for await (const page of api.events.feed(query, { signal }).pages()) {
        setAvailable(true)
        for (const event of page) {
          yield event
          after = event.id
        }
      }
    } catch (error) {
      if (signal.aborted) return
      if (!isOutage(error)) throw explain(error, after)
      setAvailable(false)
    }
    await pause(pollMs, undefined, { signal }).catch(() => undefined)
  }
}
