import { Schema } from "effect"
import type { JsMsg } from "nats"

/** What a message of the broker names: a row of a tenant. */
export const keyOf = Schema.decodeUnknownEither(
  Schema.parseJson(Schema.Struct({ tenant: Schema.NonEmptyString, id: Schema.NonEmptyString }))
)

const firstDelayMillis = 500
const maxDeliveries = 5

/**
 * Lets a message come again, after longer each time. One that waits on takes up room in the consumer, where others could
 * be: in the end it is let go, because the caller finds what it names in the database as well.
 */
export const retryLater = (message: JsMsg) => {
  const { redeliveryCount } = message.info // 1 when it comes first
  if (redeliveryCount > maxDeliveries) message.ack()
  else message.nak(firstDelayMillis * 2 ** (redeliveryCount - 1))
}
