import { Schema } from "effect"
import { id } from "../Ids.ts"
import { IntegrationId } from "../integrations/Integration.ts"
import { optional, text, timestamps } from "../Schemas.ts"

export const TrackedIssueId = id("iss", "tracked issue")

/** Maximum length of the stored texts of an issue, in characters. Longer texts are truncated. */
export const maxIssueTextLength = { title: 1000, state: 255, url: 500 } as const

/** An issue of a tracker, as of its last applied webhook. */
export const TrackedIssue = Schema.Struct({
  id: TrackedIssueId,
  integration: IntegrationId,
  externalId: text(1, 255).annotations({ description: "The tracker's own identifier, which outlives a change of key" }),
  issueKey: text(1, 100),
  projectKey: text(1, 100),
  title: optional(text(0, maxIssueTextLength.title)),
  state: optional(text(0, maxIssueTextLength.state)),
  url: optional(text(0, maxIssueTextLength.url)),
  isDeleted: Schema.Boolean,
  ...timestamps
}).annotations({ identifier: "TrackedIssue" })
export type TrackedIssue = typeof TrackedIssue.Type
