import { Schema } from "effect"
import type { JsMsg } from "nats"

/** Decodes a broker message, which carries only the key of a tenant's row. */
export const decodeRowKey = Schema.decodeUnknownEither(
  Schema.parseJson(Schema.Struct({ tenant: Schema.NonEmptyString, id: Schema.NonEmptyString }))
)

const initialDelayMs = 500
const maxDeliveries = 5

/**
 * Negatively acknowledges a message with exponential backoff. After `maxDeliveries` it acknowledges the message,
 * because a pending message counts against the consumer's limit. Callers find the row again by polling the database.
 */
export const nakWithBackoff = (message: JsMsg) => {
  const { redeliveryCount } = message.info // 1 on the first delivery
  if (redeliveryCount > maxDeliveries) message.ack()
  else message.nak(initialDelayMs * 2 ** (redeliveryCount - 1))
}
