import { connect } from "nats"
import type { Told } from "./history.ts"

/** All that waits in the durable consumer of an integration. */
export const readConsumer = async (natsUrl: string, integration: string): Promise<ReadonlyArray<Told>> => {
  const connection = await connect({ servers: natsUrl })
  try {
    const consumer = await connection.jetstream().consumers.get("contracting-integrations", integration)
    const told: Array<Told> = []
    for (let left = 1; left > 0; ) {
      for await (const message of await consumer.fetch({ max_messages: 500, expires: 1000 })) {
        told.push({ id: message.headers?.get("webhook-id") ?? "", text: message.string() })
        await message.ackAck()
      }
      const { num_ack_pending, num_pending } = await consumer.info()
      left = num_ack_pending + num_pending
    }
    return told
  } finally {
    await connection.close()
  }
}
