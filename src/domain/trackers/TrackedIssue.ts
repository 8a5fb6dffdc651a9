import { Schema } from "effect"
import { id } from "../Ids.ts"
import { IntegrationId } from "../integrations/Integration.ts"
import { field, optional, text, timestamps } from "../Schemas.ts"

export const TrackedIssueId = id("iss", "tracked issue")

/** Maximum length of the stored texts of an issue, in characters. Longer texts are truncated. */
export const maxIssueTextLength = { title: 1000, state: 255, url: 500 } as const

/** An issue of a tracker, as of its last applied webhook. */
export const TrackedIssue = Schema.Struct({
  id: TrackedIssueId,
  integration: field(IntegrationId, "The integration that tracks the issue."),
  externalId: field(text(1, 255), "The tracker's identifier of the issue. It stays when the key changes.", "10318"),
  issueKey: field(text(1, 100), "Key of the issue.", "NORTH-318"),
  projectKey: field(text(1, 100), "Key of the project that has the issue.", "NORTH"),
  title: optional(field(text(0, maxIssueTextLength.title), "Title of the issue.", "Inspect both pumps")),
  state: optional(field(text(0, maxIssueTextLength.state), "State of the issue in the tracker.", "Done")),
  url: optional(
    field(
      text(0, maxIssueTextLength.url),
      "Page of the issue in the tracker.",
      "https://northwind.example.com/browse/NORTH-318"
    )
  ),
  isDeleted: field(Schema.Boolean, "Whether the issue was deleted in the tracker.", false),
  ...timestamps
}).annotations({ identifier: "TrackedIssue", description: "An issue of a tracker, as its last webhook described it." })
export type TrackedIssue = typeof TrackedIssue.Type
