import { createServer } from "node:http"
import type { AddressInfo } from "node:net"
import { connect } from "nats"
import { Webhook } from "standardwebhooks"
import { ensure, waitFor } from "./stage.ts"
import type { Call, Writing } from "./writes.ts"

/** When the event of each created client arrived first, by the id of the client. */
export type Arrivals = ReadonlyMap<string, number>

const clientOf = (text: string): string => JSON.parse(text).data.id

const subscribe = async (call: Call, integration: object) => {
  const { body, status } = await call("POST", "/integrations", integration)
  ensure(status === 201, `The integration was not created: ${status}`)
  // The response to the creation has the signing secret.
  const { id, secret = "" } = body.data as { readonly id: string; readonly secret?: string }
  const subscribed = await call("POST", `/integrations/${id}/subscriptions`, { eventType: "client.created" })
  ensure(subscribed.status === 201, `The subscription was not created: ${subscribed.status}`)
  return { id, secret }
}

/** A receiver of webhooks that verifies every signature. */
export const subscribeByWebhook = async (call: Call) => {
  const arrivals = new Map<string, number>()
  const invalid: Array<string> = []
  let verifier: Webhook | undefined
  const server = createServer(async (request, response) => {
    const chunks: Array<Buffer> = []
    for await (const chunk of request) chunks.push(chunk)
    const text = Buffer.concat(chunks).toString()
    try {
      verifier?.verify(text, request.headers as Record<string, string>) // the three it reads have one value each
      const client = clientOf(text)
      if (!arrivals.has(client)) arrivals.set(client, Date.now())
    } catch (error) {
      invalid.push(String(error))
    }
    response.end()
  })
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve))
  const { port } = server.address() as AddressInfo // it listens on a port
  const config = { url: `http://127.0.0.1:${port}` }
  const { secret } = await subscribe(call, { provider: "WEBHOOK", name: "Drill", config })
  verifier = new Webhook(secret)
  return { arrivals, invalid, close: () => void server.close() }
}

type Webhooks = Awaited<ReturnType<typeof subscribeByWebhook>>

/** Every write succeeded, and its event arrived with a valid signature. Returns the writes. */
export const ensureAllArrived = async (writing: Writing, { arrivals, close, invalid }: Webhooks) => {
  const created = writing.created()
  ensure(created.length === writing.writes.length, `writes failed: ${JSON.stringify(writing.countByStatus())}`)
  await waitFor("every event has arrived by webhook", () => created.every(({ id = "" }) => arrivals.has(id)))
  close()
  ensure(invalid.length === 0, `webhooks with an invalid signature: ${invalid.length}`)
  return created
}

/** A subscriber that reads the consumer of a NATS integration, and reconnects as the service does. */
export const subscribeByNats = async (call: Call, natsUrl: string) => {
  const arrivals = new Map<string, number>()
  const { id } = await subscribe(call, { provider: "NATS", name: "Drill" })
  const connection = await connect({
    servers: natsUrl.split(","),
    maxReconnectAttempts: -1,
    reconnectTimeWait: 200,
    timeout: 2000,
    pingInterval: 2000
  })
  const read = async () => {
    const consumer = await connection.jetstream().consumers.get("contracting-integrations", id)
    for await (const message of await consumer.fetch({ max_messages: 500, expires: 1000 })) {
      const client = clientOf(message.string())
      if (!arrivals.has(client)) arrivals.set(client, Date.now())
      message.ack()
    }
  }
  const run = async () => {
    while (!connection.isClosed()) await read().catch(() => new Promise((resolve) => setTimeout(resolve, 100)))
  }
  void run()
  return { arrivals, close: () => connection.close() }
}
