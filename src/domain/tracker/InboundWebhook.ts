import { Either, Schema } from "effect"
import { fieldError } from "../Errors.ts"
import { id } from "../Ids.ts"
import { IntegrationId } from "../integrations/Integration.ts"
import { integer, oneOf, optional, Timestamp } from "../Schemas.ts"
import { WebhookKind } from "./IssueWebhook.ts"

export const InboundWebhookId = id("whk", "inbound webhook")

/** RECEIVED: not processed yet. STALE: a newer webhook was processed before. FAILED: all attempts failed. */
export const InboundStatus = oneOf("RECEIVED", "DONE", "STALE", "FAILED")
export type InboundStatus = typeof InboundStatus.Type

const maxTimestamp = Number.MAX_SAFE_INTEGER

/** An inbound webhook of one integration, with its processing status. */
export const InboundWebhook = Schema.Struct({
  id: InboundWebhookId,
  integration: IntegrationId,
  identifier: Schema.String,
  kind: WebhookKind,
  issueId: Schema.String.annotations({ description: "The tracker's own identifier of the issue" }),
  issueKey: Schema.String,
  happenedAt: integer(-maxTimestamp, maxTimestamp).annotations({ description: "The webhook's own timestamp" }),
  status: InboundStatus,
  attempts: integer(0, 2 ** 31 - 1),
  error: optional(Schema.String),
  receivedAt: Timestamp,
  processedAt: optional(Timestamp)
}).annotations({ identifier: "InboundWebhook" })
export type InboundWebhook = typeof InboundWebhook.Type

export const InboundWebhookWithBody = Schema.Struct({
  ...InboundWebhook.fields,
  body: optional(
    Schema.String.annotations({
      description: "The body in the very characters that came in; left out once it is no longer kept"
    })
  )
}).annotations({ identifier: "InboundWebhookInFull" })
export type InboundWebhookWithBody = typeof InboundWebhookWithBody.Type

/** Fails when the body of the webhook is no longer stored. */
export const requireReplayable = ({ body }: InboundWebhookWithBody) =>
  body === undefined
    ? Either.left(fieldError("body", "state", "is not kept any more, so there is nothing to be worked again"))
    : Either.void
