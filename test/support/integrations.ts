import { assert } from "vitest"
import type { Answered, Service } from "./service.ts"

export interface ShownSubscription {
  readonly id: string
  readonly eventType: string
  readonly scopeKey: string
  readonly clientId?: string
}

/** An integration as the interface shows it, with the secret where one is told. */
export interface ShownIntegration {
  readonly id: string
  readonly provider: string
  readonly name: string
  readonly status: string
  readonly statusReason?: string
  readonly isAuthorized: boolean
  readonly config: Readonly<Record<string, string>>
  readonly subscriptions: ReadonlyArray<ShownSubscription>
  readonly createdAt: string
  readonly updatedAt: string
  readonly secret?: string
}

type Headers = Readonly<Record<string, string>>

export const leastWebhook = { provider: "WEBHOOK", name: "Hook", config: { url: "http://127.0.0.1:9/hook" } }
export const leastNats = { provider: "NATS", name: "Stream" }

/** What can be done to integrations in a tenant, one request each. What is named `made…` must succeed. */
export const integrationsIn = (service: Pick<Service, "api">, tenant: string, as = "owner") => {
  const call = (method: string, path: string, body?: unknown, headers: Headers = {}) =>
    service.api(method, `/integrations${path}`, { as, tenant, headers, ...(body === undefined ? {} : { body }) })

  const succeeded = <A>(answer: Answered, status: number): A => {
    assert.strictEqual(answer.status, status, answer.text)
    return answer.body.data
  }
  const create = (body: object, headers?: Headers) => call("POST", "", body, headers)
  const subscribe = (id: string, body: object, headers?: Headers) => call("POST", `/${id}/subscriptions`, body, headers)

  return {
    call,
    create,
    subscribe,
    get: (id: string) => call("GET", `/${id}`),
    patch: (id: string, change: object, headers?: Headers) => call("PATCH", `/${id}`, change, headers),
    remove: (id: string, headers?: Headers) => call("DELETE", `/${id}`, undefined, headers),
    move: (id: string, move: string, headers?: Headers) => call("POST", `/${id}/${move}`, undefined, headers),
    rotate: (id: string, body: object = {}, headers?: Headers) => call("POST", `/${id}/rotate-secret`, body, headers),
    unsubscribe: (id: string, subscription: string, headers?: Headers) =>
      call("DELETE", `/${id}/subscriptions/${subscription}`, undefined, headers),
    made: async (fields: object = leastWebhook) => succeeded<ShownIntegration>(await create(fields), 201),
    madeSubscription: async (id: string, fields: object = { eventType: "client.created" }) =>
      succeeded<ShownSubscription>(await subscribe(id, fields), 201)
  }
}
