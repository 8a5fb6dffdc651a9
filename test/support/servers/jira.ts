import type { ServerResponse } from "node:http"
import { type ApiRequest, bearerOf, sendJson, startJsonServer } from "./jsonServer.ts"

export interface RegisteredWebhook {
  readonly id: number
  readonly site: string
  readonly url: string
  readonly jqlFilter: string
  readonly events: ReadonlyArray<string>
  expirationDate: number
}

/** The sites that an account can access. */
const sites = [{ id: "site-1", name: "One", url: "https://one.example.test", scopes: [] }]

const month = 30 * 24 * 60 * 60 * 1000

/** The webhooks of Jira sites, as the REST API returns them to one app. */
export const startJira = async () => {
  const state = {
    accepts: (token: string): boolean => token === "valid",
    ids: 0,
    isOneUrlOnly: false,
    sendsDatesAsText: false,
    badFilter: "no such field = 1"
  }
  const registered = new Map<number, RegisteredWebhook>()

  const webhooksOf = (site: string) => [...registered.values()].filter((hook) => hook.site === site)
  const formatDate = (moment: number) =>
    state.sendsDatesAsText ? new Date(moment).toISOString().replace("Z", "+0000") : moment

  const errorsIn = (site: string, url: string, jqlFilter: string) => [
    ...(state.isOneUrlOnly && webhooksOf(site).some((hook) => hook.url !== url)
      ? ["Only a single URL per app is allowed to be registered via REST API"]
      : []),
    ...(jqlFilter === state.badFilter ? [`The clause ${jqlFilter} is not supported`] : [])
  ]

  const register = (site: string, { body }: ApiRequest, response: ServerResponse) => {
    const { url, webhooks } = JSON.parse(body.toString())
    const [{ events, jqlFilter }] = webhooks
    const errors = errorsIn(site, url, jqlFilter)
    if (errors.length > 0) return sendJson(response, 200, { webhookRegistrationResult: [{ errors }] })
    const id = ++state.ids
    registered.set(id, { id, site, url, jqlFilter, events, expirationDate: Date.now() + month })
    return sendJson(response, 200, { webhookRegistrationResult: [{ createdWebhookId: id }] })
  }

  const refresh = (site: string, { body }: ApiRequest, response: ServerResponse) => {
    const ids: ReadonlyArray<number> = JSON.parse(body.toString()).webhookIds
    const found = webhooksOf(site).filter(({ id }) => ids.includes(id))
    if (found.length === 0) return sendJson(response, 400, { errorMessages: ["No webhook has any of these ids"] })
    const expirationDate = Date.now() + month
    for (const hook of found) hook.expirationDate = expirationDate
    return sendJson(response, 200, { expirationDate: formatDate(expirationDate) })
  }

  const list = (site: string, { url }: ApiRequest, response: ServerResponse) => {
    const startAt = Number(url.searchParams.get("startAt"))
    const values = webhooksOf(site)
      .slice(startAt, startAt + 2)
      .map(({ site: _, ...hook }) => ({ ...hook, expirationDate: formatDate(hook.expirationDate) }))
    return sendJson(response, 200, { startAt, maxResults: 2, isLast: startAt + 2 >= webhooksOf(site).length, values })
  }

  const remove = (site: string, { body }: ApiRequest, response: ServerResponse) => {
    for (const id of JSON.parse(body.toString()).webhookIds)
      if (registered.get(id)?.site === site) registered.delete(id)
    response.writeHead(202).end()
  }

  const server = await startJsonServer((request, response) => {
    const [, site, rest] = /^\/ex\/jira\/([^/]+)\/rest\/api\/3\/webhook(\/refresh)?$/.exec(request.url.pathname) ?? []
    if (!state.accepts(bearerOf(request))) return sendJson(response, 401, { code: 401, message: "Unauthorized" })
    if (request.url.pathname === "/oauth/token/accessible-resources") return sendJson(response, 200, sites)
    if (site === undefined) return sendJson(response, 404, {})
    if (rest !== undefined) return refresh(site, request, response)
    const handler = { POST: register, GET: list, DELETE: remove }[request.method]
    return handler === undefined ? sendJson(response, 405, {}) : handler(site, request, response)
  })

  return {
    ...server,
    webhooks: registered,
    webhooksOf,
    state,
    /** Sets which tokens are accepted. */
    trust: (accepts: (token: string) => boolean) => {
      state.accepts = accepts
    },
    requestsOf: (method: string) => server.requests.filter((one) => one.method === method)
  }
}

export type JiraServer = Awaited<ReturnType<typeof startJira>>
