import { Effect } from "effect"
import { pageLimit } from "../../../domain/Paging.ts"
import { Events } from "../../../layers/events/Events.ts"
import { EventsApi } from "../../api/groups/integrations/Events.ts"
import { handleGroup, provideShared } from "../../server/Handlers.ts"
import { HandlerResult } from "../../server/response/HandlerResult.ts"

/** The `Link` to the events after the last one of this page. */
const linkAfter = (params: { readonly type?: string; readonly limit?: number }, after: string) => {
  const query = new URLSearchParams({ after })
  if (params.type !== undefined) query.set("type", params.type)
  if (params.limit !== undefined) query.set("limit", String(params.limit))
  return `</api/v1/events?${query}>; rel="next"`
}

export const events = handleGroup(EventsApi, Events.pipe(provideShared(Events.Default)), (events) => ({
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
