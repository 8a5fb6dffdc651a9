import { Schema } from "effect"
import { integer, maxItems, maxProperties, oneOf, rule, text } from "../Schemas.ts"

const keyPattern = "^[A-Za-z0-9_-]{43}$"

/** The secret part of a webhook URL: 32 bytes in base64url. */
export const EndpointKey = Schema.String.pipe(
  Schema.pattern(
    new RegExp(keyPattern),
    rule("pattern", "must be 43 characters of A-Z, a-z, 0-9, _ and -", { pattern: keyPattern })
  )
)

export const identifierHeader = "x-atlassian-webhook-identifier"

/** The tracker's identifier of a webhook. Retries repeat it, so it detects duplicates. */
export const WebhookHeaders = Schema.Struct({
  [identifierHeader]: text(1, Number.MAX_SAFE_INTEGER).annotations({
    description: "The same on every attempt to deliver one webhook"
  })
})

const maxInteger = Number.MAX_SAFE_INTEGER

const AnyJson = Schema.declare((_: unknown): _ is unknown => true, {
  jsonSchema: { type: ["object", "array", "string", "number", "boolean", "null"] }
})

/** Far above what Jira sends: it does not retry a rejected webhook, so a low limit would lose updates. */
const limits = { properties: 10_000, webhookIds: 10_000 }

/** A struct that accepts unknown properties: Jira sends many more than these. */
const openStruct = <F extends Schema.Struct.Fields>(fields: F) =>
  Schema.Struct(fields, Schema.Record({ key: Schema.String, value: AnyJson })).pipe(maxProperties(limits.properties))

export const WebhookKind = oneOf("jira:issue_created", "jira:issue_updated", "jira:issue_deleted")
export type WebhookKind = typeof WebhookKind.Type

export const IssueWebhook = openStruct({
  timestamp: integer(-maxInteger, maxInteger).annotations({
    description: "When it happened, in milliseconds since 1970"
  }),
  webhookEvent: WebhookKind,
  matchedWebhookIds: Schema.Array(integer(-maxInteger, maxInteger)).pipe(maxItems(limits.webhookIds)),
  issue: openStruct({
    id: text(1, 255),
    key: text(1, 100),
    fields: openStruct({ project: openStruct({ key: text(1, 100) }) })
  })
}).annotations({ identifier: "IssueWebhook" })
export type IssueWebhook = typeof IssueWebhook.Type

export const WebhookReceipt = Schema.Struct({
  accepted: Schema.Boolean.annotations({ description: "Whether an integration wants it" })
}).annotations({ identifier: "WebhookReceipt" })
