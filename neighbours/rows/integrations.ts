import { type Attacker, repeat } from "../attacker.ts"

const atOnce = 25
const maxTenants = 100

export interface Integration {
  readonly tenant: string
  readonly id: string
}

/** Where a webhook goes to that is never sent. */
const nowhere = { url: "http://127.0.0.1:9/hook" }

const tryCreate = async (attacker: Attacker, tenant: string, provider: "WEBHOOK" | "NATS") => {
  const body = { provider, name: "One of many", ...(provider === "WEBHOOK" ? { config: nowhere } : {}) }
  const { status, text } = await attacker.prepare("POST", "/integrations", { tenant, body })
  if (status === 400) return undefined
  if (status !== 201) throw new Error(`An integration of the attacker was answered ${status}: ${text.slice(0, 200)}`)
  const { data } = JSON.parse(text) as { readonly data: { readonly id: string } } // what the API answers
  return { tenant, id: data.id }
}

/** So many integrations, in as few tenants as the service allows them in. */
export const createIntegrations = async (attacker: Attacker, provider: "WEBHOOK" | "NATS", total: number) => {
  const created: Array<Integration> = []
  let tenant = await attacker.createTenant()
  for (let tenants = 1; created.length < total; ) {
    const wanted = Math.min(atOnce, total - created.length)
    const batch = await Promise.all(Array.from({ length: wanted }, () => tryCreate(attacker, tenant, provider)))
    const allowed = batch.filter((one) => one !== undefined)
    created.push(...allowed)
    if (allowed.length === wanted) continue
    if (++tenants > maxTenants) throw new Error(`${total} integrations do not fit into ${maxTenants} tenants`)
    tenant = await attacker.createTenant()
  }
  return created
}

export const subscribeAll = (attacker: Attacker, integrations: ReadonlyArray<Integration>, eventType: string) =>
  repeat({ atOnce: 16, total: integrations.length }, async (n) => {
    const { id = "", tenant } = integrations[n] ?? {}
    await attacker.create(`/integrations/${id}/subscriptions`, { tenant, body: { eventType } })
  })

/** An integration that sends events of clients to a receiver on this machine. */
export const createHook = async (attacker: Attacker, tenant: string, port: number): Promise<Integration> => {
  const body = { provider: "WEBHOOK", name: `Receiver ${port}`, config: { url: `http://127.0.0.1:${port}/hook` } }
  const id = await attacker.create("/integrations", { tenant, body })
  await attacker.create(`/integrations/${id}/subscriptions`, { tenant, body: { eventType: "client.*" } })
  return { tenant, id }
}
