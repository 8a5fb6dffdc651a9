import { oneOf } from "../Schemas.ts"

/** The external service that an integration connects to. */
export const Provider = oneOf("JIRA", "GOOGLE_DRIVE", "WEBHOOK", "NATS")
export type Provider = typeof Provider.Type
