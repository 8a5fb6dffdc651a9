import { setTimeout as pause } from "node:timers/promises"
import { connect } from "nats"

const { INTEGRATION = "", NATS_PASSWORD = "", NATS_URL = "nats://localhost:4222" } = process.env

const connection = await connect({
  servers: NATS_URL,
  user: INTEGRATION,
  pass: NATS_PASSWORD,
  maxReconnectAttempts: -1
})
const { consumers } = connection.jetstream({ apiPrefix: "contracting.api" })

/** An event may come more than once. A real consumer remembers the ids together with what it does about them. */
const seen = new Set<string>()

const handle = (id: string, body: string) => {
  if (seen.has(id)) return
  seen.add(id)
  console.log(body)
}

const pull = async () => {
  const consumer = await consumers.get("contracting-integrations", INTEGRATION)
  for await (const message of await consumer.fetch({ max_messages: 100, expires: 30_000 })) {
    handle(message.headers?.get("webhook-id") ?? "", message.string())
    message.ack()
  }
}

let ending = false
process.once("SIGTERM", () => {
  ending = true
  void connection.drain()
})

while (!ending) {
  await pull().catch(async (cause: unknown) => {
    if (!ending) console.error(`Trying again in a second: ${cause}`)
    await pause(1000)
  })
}
