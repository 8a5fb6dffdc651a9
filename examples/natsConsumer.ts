import { setTimeout as sleep } from "node:timers/promises"
import { connect } from "nats"

const { INTEGRATION = "", NATS_PASSWORD = "", NATS_URL = "nats://localhost:4222" } = process.env

const connection = await connect({
  servers: NATS_URL,
  user: INTEGRATION,
  pass: NATS_PASSWORD,
  maxReconnectAttempts: -1
})
const { consumers } = connection.jetstream({ apiPrefix: "contracting.api" })

/** Events are delivered at least once. A real consumer saves the id in the same transaction as its effects. */
const seen = new Set<string>()

const handleEvent = (id: string, body: string) => {
  if (seen.has(id)) return
  seen.add(id)
  console.log(body)
}

const pullEvents = async () => {
  const consumer = await consumers.get("contracting-integrations", INTEGRATION)
  for await (const message of await consumer.fetch({ max_messages: 100, expires: 30_000 })) {
    handleEvent(message.headers?.get("webhook-id") ?? "", message.string())
    message.ack()
  }
}

let isStopping = false
process.once("SIGTERM", () => {
  isStopping = true
  void connection.drain()
})

while (!isStopping) {
  await pullEvents().catch(async (cause: unknown) => {
    if (!isStopping) console.error(`Retrying in one second: ${cause}`)
    await sleep(1000)
  })
}
