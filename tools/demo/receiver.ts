import { once } from "node:events"
import { createServer } from "node:http"
import { text } from "node:stream/consumers"
import { type ContractingClient, type Integration, ValidationError } from "../../dist/client/index.js"
import { UsageError } from "../common/connection.ts"
import { pollUntil } from "../walkthrough/steps.ts"
import { ensure } from "./ensure.ts"

const name = "Bookkeeping"

/** The receiver fails for these. */
const failingType = "invoice.voided"

const eventTypes = ["invoice.finalized", "invoice.paid", failingType] as const

/** A receiver of webhooks that has a bug: it answers 500 to every void invoice. */
export const startReceiver = async (port: number) => {
  const received = new Set<string>()
  const server = createServer(async (request, response) => {
    const body: { readonly id: string; readonly type: string } = JSON.parse(await text(request))
    received.add(body.id)
    if (body.type === failingType) response.writeHead(500).end("cannot book a void invoice")
    else response.writeHead(204).end()
  })
  server.listen(port, "127.0.0.1")
  await once(server, "listening").catch(() => {
    throw new UsageError(`Port ${port} is taken. Give another one with --receiver-port.`)
  })
  const stop = () => {
    server.close()
    server.closeAllConnections()
  }
  return { url: `http://127.0.0.1:${port}/invoices`, received, stop }
}

export type Receiver = Awaited<ReturnType<typeof startReceiver>>

const streamName = "Data warehouse"

const ensureSubscriptions = async (api: ContractingClient, { id, subscriptions }: Integration) => {
  for (const eventType of eventTypes) {
    const subscribe = () => api.integrations.subscribe(id, { eventType })
    await ensure(subscriptions, (one) => one.eventType === eventType, subscribe)
  }
}

/** An integration that needs no receiver: it puts the same events into a stream. */
export const ensureStream = async (api: ContractingClient) => {
  const integrations = await api.integrations.list().toArray()
  const create = (): Promise<Integration> => api.integrations.create({ provider: "NATS", name: streamName })
  const integration = await ensure(integrations, (one) => one.name === streamName, create)
  await ensureSubscriptions(api, integration)
  return integration
}

const isUrlRejected = (error: unknown) =>
  error instanceof ValidationError && error.details.some(({ field }) => field === "config.url")

/** The integration that sends to the receiver; undefined when the service may not send to this machine. */
export const ensureWebhooks = async (api: ContractingClient, receiver: Receiver) => {
  const integrations = await api.integrations.list().toArray()
  const create = (): Promise<Integration> =>
    api.integrations.create({ provider: "WEBHOOK", name, config: { url: receiver.url } })
  try {
    const integration = await ensure(integrations, (one) => one.name === name, create)
    await ensureSubscriptions(api, integration)
    return integration
  } catch (error) {
    if (isUrlRejected(error)) return undefined
    throw error
  }
}

/** Waits until the receiver got as many events as this run has caused, and the service has recorded what came of them. */
export const waitForDeliveries = (api: ContractingClient, { id }: Integration, receiver: Receiver, count: number) =>
  pollUntil(`the receiver gets ${count} events`, 60, async () => {
    if (receiver.received.size < count) return undefined
    const deliveries = await api.deliveries.list(id).toArray()
    const isRecorded = deliveries.every(({ error, status }) => status === "DELIVERED" || error !== undefined)
    return isRecorded ? count : undefined
  })
