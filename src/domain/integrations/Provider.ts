import { field, oneOf } from "../Schemas.ts"

/** The external service that an integration connects to. */
export const Provider = field(
  oneOf("JIRA", "GOOGLE_DRIVE", "WEBHOOK", "NATS", "EMAIL"),
  "The system it connects to. WEBHOOK: events to a URL of yours. NATS: events in a stream that you read. " +
    "JIRA: issues that you can bill. GOOGLE_DRIVE: finalized invoices as files. " +
    "EMAIL: invoices and credit notes by mail.",
  "WEBHOOK"
)
export type Provider = typeof Provider.Type
