import { Effect } from "effect"
import { pageLimit } from "../../domain/Paging.ts"
import { Events } from "../../layers/events/Events.ts"
import { handleGroup } from "../server/Handlers.ts"
import { HandlerResult } from "../server/response/HandlerResult.ts"
import { EventsApi } from "./EventsApi.ts"

interface FeedParams {
  readonly type?: string
  readonly order?: string
  readonly limit?: number
}

/** The `Link` to the events after the last one of this page. */
const linkAfter = ({ limit, order, type }: FeedParams, after: string) => {
  const query = new URLSearchParams({ after })
  for (const [name, value] of Object.entries({ type, order, limit }))
    if (value !== undefined) query.set(name, String(value))
  return `</api/v1/events?${query}>; rel="next"`
}

export const events = handleGroup(EventsApi, Events, (events) => ({
  feed: ({ query }) =>
    Effect.map(
      events.feed({ limit: pageLimit.default, ...query }),
      (page) =>
        new HandlerResult(page.events, {
          headers: page.next === undefined ? {} : { link: linkAfter(query, page.next) }
        })
    ),
  get: ({ path }) => events.get(path.eventId)
}))
