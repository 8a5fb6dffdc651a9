import { connect } from "nats"
import type { ReceivedEvent } from "./history.ts"

/** Reads and acknowledges every message of an integration's durable consumer. */
export const readConsumer = async (natsUrl: string, integration: string): Promise<ReadonlyArray<ReceivedEvent>> => {
  const connection = await connect({ servers: natsUrl.split(",") })
  try {
    const consumer = await connection.jetstream().consumers.get("contracting-integrations", integration)
    const countRemaining = async () => {
      const { num_ack_pending, num_pending } = await consumer.info()
      return num_ack_pending + num_pending
    }
    const received: Array<ReceivedEvent> = []
    for (let remaining = await countRemaining(); remaining > 0; remaining = await countRemaining()) {
      for await (const message of await consumer.fetch({ max_messages: Math.min(500, remaining), expires: 1000 })) {
        received.push({ id: message.headers?.get("webhook-id") ?? "", text: message.string() })
        await message.ackAck()
      }
    }
    return received
  } finally {
    await connection.close()
  }
}
