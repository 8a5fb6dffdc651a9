import { runConcurrently } from "../../support/pacing.ts"
import { type Api, parseId, requireSuccess } from "../api.ts"
import type { Receiver } from "./receiver.ts"

const clientCount = 5
const promptTimeoutMillis = 90_000
const maxPromptMillis = 500

/** The victim's tenant: a few clients, a webhook, and small invoices without a rendered PDF. */
export interface VictimData {
  readonly tenant: string
  readonly clients: ReadonlyArray<string>
  readonly integration: string
  readonly invoices: ReadonlyArray<string>
}

const address = { name: "Harbour Works AG", address1: "Hafenstrasse 12", country: "CH", city: "Basel", zip: "4057" }

const lines = [
  { name: "Pump inspection", quantity: 2.5, amountMinor: 8800 },
  { name: "Valve, bronze", quantity: 4, amountMinor: 1995 }
]

export const prepareVictim = async (api: Api, receiver: Receiver, invoiceCount: number): Promise<VictimData> => {
  const tenant = parseId(
    await requireSuccess("The victim's tenant", api.call("POST", "/tenants", { body: { name: "Victim" } }))
  )
  const post = (path: string, body?: object) =>
    requireSuccess(`POST ${path}`, api.call("POST", path, { tenant, ...(body === undefined ? {} : { body }) }))
  const create = async (path: string, body: object) => parseId(await post(path, body))

  const clients: Array<string> = []
  for (let n = 0; n < clientCount; n++) clients.push(await create("/clients", { name: `Client ${n}` }))
  const [clientId = ""] = clients
  await create("/addresses", address)
  await create("/addresses", { ...address, name: "Nordwind GmbH", clientId })
  const contractId = await create("/contracts", { clientId, name: "Care", currencyCode: "CHF", status: "ACTIVE" })

  const invoices: Array<string> = []
  await runConcurrently(invoiceCount, 4, async () => {
    const invoiceId = await create("/invoices", { contractId })
    await post("/billables", { invoiceId, billables: lines })
    await post(`/invoices/${invoiceId}/finalize`)
    invoices.push(invoiceId)
  })

  const config = { url: `http://127.0.0.1:${receiver.port}/hook` }
  const integration = await create("/integrations", { provider: "WEBHOOK", name: "Books", config })
  return { tenant, clients, integration, invoices }
}

/** Waits until a ping arrives promptly: workers may still start, or process what the attack prepared. */
export const waitUntilPrompt = async (api: Api, receiver: Receiver, { integration, tenant }: VictimData) => {
  const startedAt = performance.now()
  while (performance.now() - startedAt < promptTimeoutMillis) {
    const sentAt = performance.now()
    const ping = parseId(
      await requireSuccess("A ping", api.call("POST", `/integrations/${integration}/ping`, { tenant }))
    )
    const arrivedAt = await receiver.waitForArrival(ping, promptTimeoutMillis)
    if (arrivedAt !== undefined && arrivedAt - sentAt < maxPromptMillis) return
  }
  throw new Error("Pings do not arrive promptly without an attack")
}
