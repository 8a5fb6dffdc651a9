import { Effect } from "effect"
import type { AuthorizedSession } from "../oauth/AuthorizedSession.ts"
import type { Call, Reply } from "../providerHttp/Calls.ts"
import { complaintOf, type Registered, readList, readRefresh, readRegistration, TrackerAway } from "./Answers.ts"

const events = ["jira:issue_created", "jira:issue_updated", "jira:issue_deleted"]

const json = { "content-type": "application/json", accept: "application/json" }

/** More pages than any site can fill. */
const mostPages = 20

export interface Wanted {
  readonly url: string
  readonly jqlFilter: string
}

/** What we do with the webhooks of one site. */
export const trackerOver = (session: AuthorizedSession, api: string, site: string) => {
  const webhooks = `${api}/ex/jira/${encodeURIComponent(site)}/rest/api/3/webhook`

  const ask = (method: Call["method"], url: string, body?: object) =>
    Effect.filterOrFail(
      session.call({ method, url, headers: json, ...(body === undefined ? {} : { body: JSON.stringify(body) }) }),
      ({ status }: Reply) => status >= 200 && status < 300,
      complaintOf
    )

  return {
    register: ({ jqlFilter, url }: Wanted) =>
      Effect.flatMap(ask("POST", webhooks, { url, webhooks: [{ events, jqlFilter }] }), (reply) => {
        const read = readRegistration(reply)
        return typeof read === "number" ? Effect.succeed(read) : Effect.fail(read)
      }),

    /** Until when it lives from now on, in milliseconds; nothing if the tracker did not say. */
    refresh: (id: number) => Effect.map(ask("PUT", `${webhooks}/refresh`, { webhookIds: [id] }), readRefresh),

    /** Every webhook that is registered in our name. */
    list: Effect.gen(function* () {
      const found: Array<Registered> = []
      for (let page = 0; page < mostPages; page++) {
        const read = readList(yield* ask("GET", `${webhooks}?startAt=${found.length}&maxResults=100`))
        if (read === undefined)
          return yield* Effect.fail(new TrackerAway({ message: "The tracker listed its webhooks in an unknown form" }))
        found.push(...read.webhooks)
        if (read.isLast || read.webhooks.length === 0) break
      }
      return found
    }),

    remove: (ids: ReadonlyArray<number>) => Effect.asVoid(ask("DELETE", webhooks, { webhookIds: ids }))
  }
}

export type Tracker = ReturnType<typeof trackerOver>
