import { type Attacker, repeat } from "../attacker.ts"

const concurrency = 25
const maxTenants = 100

export interface Integration {
  readonly tenant: string
  readonly id: string
}

/** A URL that is never called. */
const closedPortConfig = { url: "http://127.0.0.1:9/hook" }

const tryCreateIntegration = async (attacker: Attacker, tenant: string, provider: "WEBHOOK" | "NATS") => {
  const body = { provider, name: "One of many", ...(provider === "WEBHOOK" ? { config: closedPortConfig } : {}) }
  const { status, text } = await attacker.callUntilAccepted("POST", "/integrations", { tenant, body })
  if (status === 400) return undefined
  if (status !== 201) throw new Error(`An integration of the attacker returned ${status}: ${text.slice(0, 200)}`)
  const { data } = JSON.parse(text) as { readonly data: { readonly id: string } } // the body of every 201
  return { tenant, id: data.id }
}

/** Creates integrations in as few tenants as the quota allows. */
export const createIntegrations = async (attacker: Attacker, provider: "WEBHOOK" | "NATS", total: number) => {
  const created: Array<Integration> = []
  let tenant = await attacker.createTenant()
  for (let tenants = 1; created.length < total; ) {
    const batchSize = Math.min(concurrency, total - created.length)
    const batch = await Promise.all(
      Array.from({ length: batchSize }, () => tryCreateIntegration(attacker, tenant, provider))
    )
    const allowed = batch.filter((integration) => integration !== undefined)
    created.push(...allowed)
    if (allowed.length === batchSize) continue
    if (++tenants > maxTenants) throw new Error(`${total} integrations do not fit into ${maxTenants} tenants`)
    tenant = await attacker.createTenant()
  }
  return created
}

export const subscribeAll = (attacker: Attacker, integrations: ReadonlyArray<Integration>, eventType: string) =>
  repeat({ concurrency: 16, total: integrations.length }, async (n) => {
    const { id = "", tenant } = integrations[n] ?? {}
    await attacker.create(`/integrations/${id}/subscriptions`, { tenant, body: { eventType } })
  })

/** Creates a webhook integration, subscribed to all events of clients. */
export const createWebhook = async (attacker: Attacker, tenant: string, port: number): Promise<Integration> => {
  const body = { provider: "WEBHOOK", name: `Receiver ${port}`, config: { url: `http://127.0.0.1:${port}/hook` } }
  const id = await attacker.create("/integrations", { tenant, body })
  await attacker.create(`/integrations/${id}/subscriptions`, { tenant, body: { eventType: "client.*" } })
  return { tenant, id }
}
