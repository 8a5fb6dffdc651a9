import { Schema } from "effect"
import { field, integer, maxItems, maxProperties, oneOf, rule, text } from "../Schemas.ts"

const keyPattern = "^[A-Za-z0-9_-]{43}$"

/** The secret part of a webhook URL: 32 bytes in base64url. */
export const EndpointKey = field(
  Schema.String.pipe(
    Schema.pattern(
      new RegExp(keyPattern),
      rule("pattern", "must be 43 characters of A-Z, a-z, 0-9, _ and -", { pattern: keyPattern })
    )
  ),
  "Secret part of the webhook URL of a JIRA integration.",
  "mG7pVq0w3nXzY5tR8sK2jLhB4cD6fAeU9iOoPl1QbNs"
)

export const identifierHeader = "x-atlassian-webhook-identifier"

/** The tracker's identifier of a webhook. Retries repeat it, so it detects duplicates. */
export const WebhookHeaders = Schema.Struct({
  [identifierHeader]: field(
    text(1, Number.MAX_SAFE_INTEGER),
    "The tracker's identifier of the webhook, the same for each repetition.",
    "4c1f8a0e"
  )
})

const maxInteger = Number.MAX_SAFE_INTEGER

const AnyJson = Schema.declare((_: unknown): _ is unknown => true, {
  jsonSchema: { type: ["object", "array", "string", "number", "boolean", "null"], items: {} },
  description: "Any JSON value. The service ignores it."
})

/** Far above what Jira sends: it does not retry a rejected webhook, so a low limit would lose updates. */
const limits = { properties: 10_000, webhookIds: 10_000 }

/** A struct that accepts unknown properties: Jira sends many more than these. */
const openStruct = <F extends Schema.Struct.Fields>(fields: F) =>
  Schema.Struct(fields, Schema.Record({ key: Schema.String, value: AnyJson })).pipe(maxProperties(limits.properties))

export const WebhookKind = field(
  oneOf("jira:issue_created", "jira:issue_updated", "jira:issue_deleted"),
  "What happened to the issue.",
  "jira:issue_updated"
)
export type WebhookKind = typeof WebhookKind.Type

export const IssueWebhook = openStruct({
  timestamp: field(
    integer(-maxInteger, maxInteger),
    "When it happened, in milliseconds since 1970.",
    1_794_648_600_000
  ),
  webhookEvent: WebhookKind,
  matchedWebhookIds: field(
    Schema.Array(integer(-maxInteger, maxInteger)).pipe(maxItems(limits.webhookIds)),
    "Identifiers of the registrations at the tracker that match.",
    [1000]
  ),
  issue: field(
    openStruct({
      id: field(text(1, 255), "The tracker's identifier of the issue.", "10318"),
      key: field(text(1, 100), "Key of the issue.", "NORTH-318"),
      fields: field(
        openStruct({
          project: field(
            openStruct({ key: field(text(1, 100), "Key of the project.", "NORTH") }),
            "The project of the issue."
          )
        }),
        "Fields of the issue. The service also reads `summary` and the name of `status`."
      )
    }),
    "The issue after the change."
  )
}).annotations({ identifier: "IssueWebhook", description: "A webhook of Jira about one issue." })
export type IssueWebhook = typeof IssueWebhook.Type

export const WebhookReceipt = Schema.Struct({
  accepted: field(Schema.Boolean, "Whether an integration processes the webhook.", true)
}).annotations({ identifier: "WebhookReceipt", description: "Confirms that a webhook is stored." })
