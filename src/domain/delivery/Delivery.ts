import { Either, Schema } from "effect"
import { fieldError, type ValidationError } from "../Errors.ts"
import { id } from "../Ids.ts"
import { IntegrationId } from "../integrations/Integration.ts"
import { butIs } from "../RejectedValue.ts"
import { body, field, integer, oneOf, optional, rule, Timestamp, text, timestamps, UtcDateTime } from "../Schemas.ts"

export const DeliveryId = id("dlv", "delivery")
export type DeliveryId = typeof DeliveryId.Type

const EventId = id("evt", "event")

export const unfinishedStatuses = ["WAITING", "PENDING"] as const
export const finishedStatuses = ["DELIVERED", "EXHAUSTED", "UNCERTAIN"] as const

/** WAITING: queued behind another delivery of the same resource. PENDING: sent when due. The others are final. */
export const DeliveryStatus = field(
  oneOf(...unfinishedStatuses, ...finishedStatuses),
  "WAITING: behind an earlier event of the same resource. PENDING: sent when due. DELIVERED: accepted by the receiver. " +
    "EXHAUSTED: all attempts failed, or the mail server refused the mail for good. UNCERTAIN: a mail that may have been " +
    "sent; it is sent again only on request.",
  "PENDING"
)
export type DeliveryStatus = typeof DeliveryStatus.Type

export const FinishedStatus = oneOf(...finishedStatuses)

/** The result of an attempt. LOST: the worker stopped before it recorded a result. */
export const AttemptOutcome = field(
  oneOf("DELIVERED", "FAILED", "LOST"),
  "DELIVERED: accepted by the receiver. FAILED: rejected or not reached. LOST: the result is not known.",
  "FAILED"
)
export type AttemptOutcome = typeof AttemptOutcome.Type

const maxInt32 = 2 ** 31 - 1

const lastError = "books.example.com answered 503"

/** The delivery of one event to one integration. */
export const Delivery = Schema.Struct({
  id: DeliveryId,
  integration: field(IntegrationId, "The integration that gets the event."),
  event: field(EventId, "The event to deliver."),
  eventType: field(text(1, 200), "Type of the event.", "invoice.finalized"),
  recipient: optional(
    field(Schema.String, "EMAIL: the address that the mail goes to.", "ada.larsen@northwind.example")
  ),
  status: DeliveryStatus,
  attempts: field(integer(0, maxInt32), "How often it was sent so far.", 1),
  nextAttemptAt: optional(field(Timestamp, "When it is sent next.", "2026-11-14T09:30:05.000Z")),
  responseStatus: optional(
    field(integer(0, maxInt32), "Status of the last response of the receiver, in HTTP or SMTP.", 503)
  ),
  error: optional(field(Schema.String, "Why the last attempt failed.", lastError)),
  deliveredAt: optional(field(Timestamp, "When the receiver accepted it.")),
  ...timestamps
}).annotations({ identifier: "Delivery", description: "One event on its way to one integration." })
export type Delivery = typeof Delivery.Type

/** The fields that lists of deliveries can be sorted by. */
export const deliverySorts = ["createdAt"] as const

export const DeliveryAttempt = Schema.Struct({
  number: field(integer(1, maxInt32), "Counts the attempts of the delivery, from 1.", 1),
  attemptedAt: field(Timestamp, "When it was sent.", "2026-11-14T09:30:00.000Z"),
  outcome: AttemptOutcome,
  latencyMs: optional(field(integer(0, maxInt32), "Milliseconds until the response.", 128)),
  responseStatus: optional(field(integer(0, maxInt32), "Status of the response, in HTTP or SMTP.", 503)),
  responseBody: optional(
    field(Schema.String, "Beginning of the response of the receiver, while it is kept.", "Under maintenance")
  ),
  error: optional(field(Schema.String, "Why the attempt failed.", lastError))
}).annotations({ identifier: "DeliveryAttempt", description: "One attempt to send a delivery." })
export type DeliveryAttempt = typeof DeliveryAttempt.Type

/** The time that a receiver of a webhook has to respond. */
export const receiverTimeoutMs = 15_000

/** Maximum number of attempts in the attempt log of a delivery. */
export const maxShownAttempts = 100

export const DeliveryWithAttempts = Schema.Struct({
  ...Delivery.fields,
  attemptLog: field(Schema.Array(DeliveryAttempt), `The last ${maxShownAttempts} attempts, oldest first.`)
}).annotations({ identifier: "DeliveryWithAttempts", description: "A delivery with a log of its attempts." })
export type DeliveryWithAttempts = typeof DeliveryWithAttempts.Type

const filterPattern = "^[a-z][a-z_]{0,99}\\.([a-z][a-z_]{0,99}|\\*)$"

/** An event type, or `<resource>.*` for all types of a resource. */
export const EventTypeFilter = field(
  Schema.String.pipe(
    Schema.pattern(
      new RegExp(filterPattern),
      rule("pattern", butIs("must be an event type such as client.created, or client.* for all events of a resource"), {
        pattern: filterPattern
      })
    )
  ),
  "Only this event type, or `<resource>.*` for all types of a resource.",
  "invoice.*"
)

/** Selects the finished deliveries to send again, by the time of their creation. */
export const Redelivery = body({
  since: field(UtcDateTime, "Deliveries created at or after this time.", "2026-11-14T00:00:00.000Z"),
  until: optional(
    field(UtcDateTime, "Deliveries created at or before this time. Default: now.", "2026-11-15T00:00:00.000Z")
  ),
  status: optional(
    field(
      FinishedStatus,
      "Only deliveries with this status. Default: DELIVERED and EXHAUSTED. UNCERTAIN mails may arrive twice.",
      "EXHAUSTED"
    )
  )
}).annotations({ identifier: "RedeliveryRequest", description: "Which finished deliveries to send again." })
export type Redelivery = typeof Redelivery.Type

/** Fails if the period of a redelivery ends before it starts. */
export const requirePeriod = ({ since, until = since }: Redelivery): Either.Either<void, ValidationError> =>
  until < since
    ? Either.left(fieldError("until", "min", `must not be before since, ${since}, but is ${until}`))
    : Either.void

export const RedeliveryResult = Schema.Struct({
  redelivered: field(integer(0, Number.MAX_SAFE_INTEGER), "How many deliveries are queued again so far.", 12),
  isComplete: field(
    Schema.Boolean,
    "Whether these are all. If false, the service queues the others in the background.",
    true
  )
}).annotations({ identifier: "RedeliveryResult", description: "How many deliveries are queued again." })
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
          `has ${open} redeliveries in progress, which is the maximum; try again when one is complete`
        )
      )
