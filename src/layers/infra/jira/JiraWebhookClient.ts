import { Effect } from "effect"
import type { AuthorizedSession } from "../oauth/AuthorizedSession.ts"
import type { ProviderRequest, ProviderResponse } from "../providerHttp/ProviderRequest.ts"
import {
  JiraUnavailable,
  parseRefreshedExpiry,
  parseRegistration,
  parseWebhookPage,
  type RegisteredJiraWebhook,
  toJiraError
} from "./JiraResponses.ts"

const events = ["jira:issue_created", "jira:issue_updated", "jira:issue_deleted"]

const jsonHeaders = { "content-type": "application/json", accept: "application/json" }

/** Guards against an endless list: Jira allows far fewer webhooks than 20 pages hold. */
const maxPages = 20

export interface JiraWebhookSpec {
  readonly url: string
  readonly jqlFilter: string
}

/** Client for the webhook API of one Jira site. */
export const makeJiraWebhookClient = (session: AuthorizedSession, api: string, site: string) => {
  const webhooksUrl = `${api}/ex/jira/${encodeURIComponent(site)}/rest/api/3/webhook`

  const request = (method: ProviderRequest["method"], url: string, body?: object) =>
    Effect.filterOrFail(
      session.send({
        method,
        url,
        headers: jsonHeaders,
        ...(body === undefined ? {} : { body: JSON.stringify(body) })
      }),
      ({ status }: ProviderResponse) => status >= 200 && status < 300,
      toJiraError
    )

  return {
    register: ({ jqlFilter, url }: JiraWebhookSpec) =>
      Effect.flatMap(request("POST", webhooksUrl, { url, webhooks: [{ events, jqlFilter }] }), (reply) => {
        const result = parseRegistration(reply)
        return typeof result === "number" ? Effect.succeed(result) : Effect.fail(result)
      }),

    /** Extends the lifetime. Returns the new expiry in epoch milliseconds, or undefined if Jira sends none. */
    refresh: (id: number) =>
      Effect.map(request("PUT", `${webhooksUrl}/refresh`, { webhookIds: [id] }), parseRefreshedExpiry),

    /** Lists the webhooks that our app registered. */
    list: Effect.gen(function* () {
      const found: Array<RegisteredJiraWebhook> = []
      for (let page = 0; page < maxPages; page++) {
        const listed = parseWebhookPage(yield* request("GET", `${webhooksUrl}?startAt=${found.length}&maxResults=100`))
        if (listed === undefined)
          return yield* Effect.fail(new JiraUnavailable({ message: "Jira sent an unexpected list of webhooks" }))
        found.push(...listed.webhooks)
        if (listed.isLast || listed.webhooks.length === 0) break
      }
      return found
    }),

    remove: (ids: ReadonlyArray<number>) => Effect.asVoid(request("DELETE", webhooksUrl, { webhookIds: ids }))
  }
}

export type JiraWebhookClient = ReturnType<typeof makeJiraWebhookClient>
