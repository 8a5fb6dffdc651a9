import { Either, Schema } from "effect"
import { fieldError } from "../Errors.ts"
import { id } from "../Ids.ts"
import { IntegrationId } from "../integrations/Integration.ts"
import { field, integer, oneOf, optional, Timestamp } from "../Schemas.ts"
import { WebhookKind } from "./IssueWebhook.ts"

export const InboundWebhookId = id("whk", "inbound webhook")

/** RECEIVED: not processed yet. STALE: a newer webhook was processed before. FAILED: all attempts failed. */
export const InboundStatus = field(
  oneOf("RECEIVED", "DONE", "STALE", "FAILED"),
  "RECEIVED: not processed yet. DONE: applied to the issue. STALE: older than what is known, changed nothing. " +
    "FAILED: all attempts to process it failed.",
  "DONE"
)
export type InboundStatus = typeof InboundStatus.Type

const maxTimestamp = Number.MAX_SAFE_INTEGER

/** An inbound webhook of one integration, with its processing status. */
export const InboundWebhook = Schema.Struct({
  id: InboundWebhookId,
  integration: field(IntegrationId, "The integration that received the webhook."),
  identifier: field(
    Schema.String,
    "The tracker's identifier of the webhook, the same for each repetition.",
    "4c1f8a0e"
  ),
  kind: WebhookKind,
  issueId: field(Schema.String, "The tracker's identifier of the issue.", "10318"),
  issueKey: field(Schema.String, "Key of the issue.", "NORTH-318"),
  happenedAt: field(
    integer(-maxTimestamp, maxTimestamp),
    "When it happened, by the tracker's clock, in milliseconds since 1970.",
    1_794_648_600_000
  ),
  status: InboundStatus,
  attempts: field(integer(0, 2 ** 31 - 1), "How often the service tried to process it.", 1),
  error: optional(field(Schema.String, "Why the last attempt failed.")),
  receivedAt: field(Timestamp, "When the service received it.", "2026-11-14T09:30:00.000Z"),
  processedAt: optional(field(Timestamp, "When the service processed it.", "2026-11-14T09:30:01.000Z"))
}).annotations({
  identifier: "InboundWebhook",
  description: "A webhook that a tracker sent to an integration, with its processing status."
})
export type InboundWebhook = typeof InboundWebhook.Type

/** The fields that lists of inbound webhooks can be sorted by. */
export const inboundSorts = ["receivedAt"] as const

export const InboundWebhookWithBody = Schema.Struct({
  ...InboundWebhook.fields,
  body: optional(
    field(
      Schema.String,
      "The body exactly as the tracker sent it. Left out after its retention time.",
      '{"timestamp":1794648600000,"webhookEvent":"jira:issue_updated","issue":{"id":"10318","key":"NORTH-318"}}'
    )
  )
}).annotations({ identifier: "InboundWebhookWithBody", description: "An inbound webhook with its body." })
export type InboundWebhookWithBody = typeof InboundWebhookWithBody.Type

/** Fails when the body of the webhook is no longer stored. */
export const requireReplayable = ({ body }: InboundWebhookWithBody) =>
  body === undefined
    ? Either.left(fieldError("body", "state", "is no longer stored, so the webhook cannot be replayed"))
    : Either.void
