import { HttpApiEndpoint, HttpApiGroup } from "@effect/platform"
import { Schema } from "effect"
import { IntegrationId } from "../../domain/integrations/Integration.ts"
import { field, optional, QueryBoolean, text } from "../../domain/Schemas.ts"
import { maxIssueTextLength, TrackedIssue, TrackedIssueId } from "../../domain/trackers/TrackedIssue.ts"
import { inTenant } from "../api/Access.ts"
import { data } from "../api/Envelope.ts"
import { operation, tag } from "../api/Operation.ts"
import { pageQueryFields } from "../api/Paging.ts"

export class IssuesApi extends HttpApiGroup.make("issues")
  .annotateContext(
    tag(
      "Issues",
      "Issue trackers",
      "The issues of a tracker, as its webhooks describe them. Bill them with `POST " +
        "/invoices/{invoiceId}/billables/from-issues`."
    )
  )
  .add(
    HttpApiEndpoint.get("list", "/integrations/:integrationId/issues")
      .setPath(Schema.Struct({ integrationId: IntegrationId }))
      .setUrlParams(
        Schema.Struct({
          ...pageQueryFields,
          projectKey: optional(field(text(1, 100), "Only issues of this project.", "NORTH")),
          key: optional(field(text(1, 100), "Only issues with this key.", "NORTH-318")),
          state: optional(field(text(1, maxIssueTextLength.state), "Only issues in this state.", "Done")),
          deleted: optional(field(QueryBoolean, "Whether the issue was deleted in the tracker.")),
          billed: optional(field(QueryBoolean, "Whether a line of an invoice bills the issue, void invoices excluded."))
        })
      )
      .addSuccess(data(Schema.Array(TrackedIssue)))
      .annotateContext(
        operation("List tracked issues", inTenant("VIEWER"), {
          description:
            "Lists the issues that an integration tracks, oldest first, one page at a time. Filters by " +
            "project, key, state, and whether the issue is deleted or billed."
        })
      )
  )
  .add(
    HttpApiEndpoint.get("get", "/integrations/:integrationId/issues/:issueId")
      .setPath(Schema.Struct({ integrationId: IntegrationId, issueId: TrackedIssueId }))
      .addSuccess(data(TrackedIssue))
      .annotateContext(operation("Get a tracked issue", inTenant("VIEWER"), { description: "Returns one issue." }))
  ) {}
