import { Either, Schema } from "effect"
import { fieldError, type ValidationError } from "../Errors.ts"
import { id } from "../Ids.ts"
import { IntegrationId } from "../integrations/Integration.ts"
import { body, integer, oneOf, optional, rule, Timestamp, text, timestamps, UtcDateTime } from "../Schemas.ts"

export const DeliveryId = id("dlv", "delivery")
export type DeliveryId = typeof DeliveryId.Type

const EventId = id("evt", "event")

/** WAITING: queued behind another delivery of the same resource. PENDING: sent when due. The others are final. */
export const DeliveryStatus = oneOf("WAITING", "PENDING", "DELIVERED", "EXHAUSTED")
export type DeliveryStatus = typeof DeliveryStatus.Type

export const FinishedStatus = oneOf("DELIVERED", "EXHAUSTED")

/** The result of an attempt. LOST: the worker stopped before it recorded a result. */
export const AttemptOutcome = oneOf("DELIVERED", "FAILED", "LOST")
export type AttemptOutcome = typeof AttemptOutcome.Type

const maxInt32 = 2 ** 31 - 1

/** The delivery of one event to one integration. */
export const Delivery = Schema.Struct({
  id: DeliveryId,
  integration: IntegrationId,
  event: EventId,
  eventType: text(1, 200),
  status: DeliveryStatus,
  attempts: integer(0, maxInt32),
  nextAttemptAt: optional(Timestamp),
  responseStatus: optional(integer(0, maxInt32)),
  error: optional(Schema.String),
  deliveredAt: optional(Timestamp),
  ...timestamps
}).annotations({ identifier: "Delivery" })
export type Delivery = typeof Delivery.Type

export const DeliveryAttempt = Schema.Struct({
  number: integer(1, maxInt32),
  attemptedAt: Timestamp,
  outcome: AttemptOutcome,
  latencyMs: optional(integer(0, maxInt32)),
  responseStatus: optional(integer(0, maxInt32)),
  responseBody: optional(Schema.String),
  error: optional(Schema.String)
}).annotations({ identifier: "DeliveryAttempt" })
export type DeliveryAttempt = typeof DeliveryAttempt.Type

/** Maximum number of attempts in the attempt log of a delivery. */
export const maxShownAttempts = 100

export const DeliveryWithAttempts = Schema.Struct({
  ...Delivery.fields,
  attemptLog: Schema.Array(DeliveryAttempt).annotations({
    description: `What came of each attempt, in order; of more than ${maxShownAttempts} the last`
  })
}).annotations({ identifier: "DeliveryInFull" })
export type DeliveryWithAttempts = typeof DeliveryWithAttempts.Type

const filterPattern = "^[a-z][a-z_]{0,99}\\.([a-z][a-z_]{0,99}|\\*)$"

/** An event type, or `<resource>.*` for all types of a resource. */
export const EventTypeFilter = Schema.String.pipe(
  Schema.pattern(
    new RegExp(filterPattern),
    rule("pattern", "must be a type of events such as client.created, or client.* for all of a resource", {
      pattern: filterPattern
    })
  )
)

/** Selects the finished deliveries to send again, by the time of their creation. */
export const Redelivery = body({
  since: UtcDateTime,
  until: optional(UtcDateTime),
  status: optional(FinishedStatus.annotations({ description: "Both unless given" }))
}).annotations({ identifier: "Redelivery" })
export type Redelivery = typeof Redelivery.Type

/** Fails if the period of a redelivery ends before it starts. */
export const requirePeriod = ({ since, until = since }: Redelivery): Either.Either<void, ValidationError> =>
  until < since ? Either.left(fieldError("until", "min", "must not be before since")) : Either.void

export const RedeliveryResult = Schema.Struct({
  redelivered: integer(0, Number.MAX_SAFE_INTEGER).annotations({
    description: "How many were put back before this answer"
  }),
  isComplete: Schema.Boolean.annotations({
    description: "Whether that is all of them; if false, the rest is put back in the background"
  })
}).annotations({ identifier: "Redelivered" })
export type RedeliveryResult = typeof RedeliveryResult.Type

/** Maximum number of incomplete redelivery requests of one integration. */
export const maxOpenRedeliveries = 10

export const requireRedeliveryCapacity = (open: number) =>
  open < maxOpenRedeliveries
    ? Either.void
    : Either.left(
        fieldError(
          "integrationId",
          "state",
          `has ${open} redeliveries that are not complete yet; try again when one is`
        )
      )
