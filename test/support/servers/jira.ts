import type { ServerResponse } from "node:http"
import { type Asked, answerJson, bearerOf, startJsonServer } from "./jsonServer.ts"

export interface RegisteredWebhook {
  readonly id: number
  readonly site: string
  readonly url: string
  readonly jqlFilter: string
  readonly events: ReadonlyArray<string>
  expirationDate: number
}

/** What an account reaches. */
const sites = [{ id: "site-1", name: "One", url: "https://one.example.test", scopes: [] }]

const month = 30 * 24 * 60 * 60 * 1000

/** The webhooks of a tracker's sites, as its REST API shows them to one app. */
export const startJira = async () => {
  const state = {
    accepts: (token: string): boolean => token === "valid",
    ids: 0,
    isOneUrlOnly: false,
    tellsText: false,
    badFilter: "no such field = 1"
  }
  const hooks = new Map<number, RegisteredWebhook>()

  const at = (site: string) => [...hooks.values()].filter((hook) => hook.site === site)
  const told = (moment: number) => (state.tellsText ? new Date(moment).toISOString().replace("Z", "+0000") : moment)

  const errorsIn = (site: string, url: string, jqlFilter: string) => [
    ...(state.isOneUrlOnly && at(site).some((hook) => hook.url !== url)
      ? ["Only a single URL per app is allowed to be registered via REST API"]
      : []),
    ...(jqlFilter === state.badFilter ? [`The clause ${jqlFilter} is not supported`] : [])
  ]

  const register = (site: string, { body }: Asked, response: ServerResponse) => {
    const { url, webhooks } = JSON.parse(body.toString())
    const [{ events, jqlFilter }] = webhooks
    const errors = errorsIn(site, url, jqlFilter)
    if (errors.length > 0) return answerJson(response, 200, { webhookRegistrationResult: [{ errors }] })
    const id = ++state.ids
    hooks.set(id, { id, site, url, jqlFilter, events, expirationDate: Date.now() + month })
    return answerJson(response, 200, { webhookRegistrationResult: [{ createdWebhookId: id }] })
  }

  const refresh = (site: string, { body }: Asked, response: ServerResponse) => {
    const ids: ReadonlyArray<number> = JSON.parse(body.toString()).webhookIds
    const found = at(site).filter(({ id }) => ids.includes(id))
    if (found.length === 0) return answerJson(response, 400, { errorMessages: ["No webhook has any of these ids"] })
    const expirationDate = Date.now() + month
    for (const hook of found) hook.expirationDate = expirationDate
    return answerJson(response, 200, { expirationDate: told(expirationDate) })
  }

  const list = (site: string, { url }: Asked, response: ServerResponse) => {
    const startAt = Number(url.searchParams.get("startAt"))
    const values = at(site)
      .slice(startAt, startAt + 2)
      .map(({ site: _, ...hook }) => ({ ...hook, expirationDate: told(hook.expirationDate) }))
    return answerJson(response, 200, { startAt, maxResults: 2, isLast: startAt + 2 >= at(site).length, values })
  }

  const remove = (site: string, { body }: Asked, response: ServerResponse) => {
    for (const id of JSON.parse(body.toString()).webhookIds) if (hooks.get(id)?.site === site) hooks.delete(id)
    response.writeHead(202).end()
  }

  const server = await startJsonServer((asked, response) => {
    const [, site, rest] = /^\/ex\/jira\/([^/]+)\/rest\/api\/3\/webhook(\/refresh)?$/.exec(asked.url.pathname) ?? []
    if (!state.accepts(bearerOf(asked))) return answerJson(response, 401, { code: 401, message: "Unauthorized" })
    if (asked.url.pathname === "/oauth/token/accessible-resources") return answerJson(response, 200, sites)
    if (site === undefined) return answerJson(response, 404, {})
    if (rest !== undefined) return refresh(site, asked, response)
    const answers = { POST: register, GET: list, DELETE: remove }[asked.method]
    return answers === undefined ? answerJson(response, 405, {}) : answers(site, asked, response)
  })

  return {
    ...server,
    hooks,
    at,
    state,
    /** From now on those tokens count that somebody else says so of. */
    trust: (accepts: (token: string) => boolean) => {
      state.accepts = accepts
    },
    made: (method: string) => server.asked.filter((one) => one.method === method)
  }
}

export type JiraServer = Awaited<ReturnType<typeof startJira>>
