import { Schema } from "effect"
import { integer, maxItems, maxProperties, oneOf, rule, text } from "../Schemas.ts"

const keyPattern = "^[A-Za-z0-9_-]{43}$"

/** The secret part of the address a tracker sends webhooks to: 32 bytes in base64url. */
export const EndpointKey = Schema.String.pipe(
  Schema.pattern(
    new RegExp(keyPattern),
    rule("pattern", "must be 43 characters of A-Z, a-z, 0-9, _ and -", { pattern: keyPattern })
  )
)

export const identifierHeader = "x-atlassian-webhook-identifier"

/** Names a webhook within its tracker, and is the same however often the tracker sends it. */
export const WebhookHeaders = Schema.Struct({
  [identifierHeader]: text(1, Number.MAX_SAFE_INTEGER).annotations({
    description: "The same on every attempt to deliver one webhook"
  })
})

const most = Number.MAX_SAFE_INTEGER

const Anything = Schema.declare((_: unknown): _ is unknown => true, {
  jsonSchema: { type: ["object", "array", "string", "number", "boolean", "null"] }
})

/** Far more than a tracker sends, since it never sends a rejected webhook again. */
const maxOf = { properties: 10_000, webhookIds: 10_000 }

/** Properties nobody names here are no fault: trackers send many more. */
const open = <F extends Schema.Struct.Fields>(fields: F) =>
  Schema.Struct(fields, Schema.Record({ key: Schema.String, value: Anything })).pipe(maxProperties(maxOf.properties))

export const WebhookKind = oneOf("jira:issue_created", "jira:issue_updated", "jira:issue_deleted")
export type WebhookKind = typeof WebhookKind.Type

export const IssueWebhook = open({
  timestamp: integer(-most, most).annotations({ description: "When it happened, in milliseconds since 1970" }),
  webhookEvent: WebhookKind,
  matchedWebhookIds: Schema.Array(integer(-most, most)).pipe(maxItems(maxOf.webhookIds)),
  issue: open({
    id: text(1, 255),
    key: text(1, 100),
    fields: open({ project: open({ key: text(1, 100) }) })
  })
}).annotations({ identifier: "IssueWebhook" })
export type IssueWebhook = typeof IssueWebhook.Type

export const WebhookReceipt = Schema.Struct({
  accepted: Schema.Boolean.annotations({ description: "Whether an integration wants it" })
}).annotations({ identifier: "WebhookReceipt" })
