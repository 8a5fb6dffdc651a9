import { HttpApiEndpoint, HttpApiGroup, OpenApi } from "@effect/platform"
import { Schema } from "effect"
import { IntegrationId } from "../../../../domain/integrations/Integration.ts"
import { optional, queryBoolean, text } from "../../../../domain/Schemas.ts"
import { maxIssueTextLength, TrackedIssue, TrackedIssueId } from "../../../../domain/tracker/TrackedIssue.ts"
import { inTenant, operation } from "../../Access.ts"
import { data } from "../../Envelope.ts"
import { pageQueryFields } from "../../Paging.ts"

export class IssuesApi extends HttpApiGroup.make("issues")
  .annotate(OpenApi.Description, "The issues of a tracker, as far as its webhooks told of them")
  .add(
    HttpApiEndpoint.get("list", "/integrations/:integrationId/issues")
      .setPath(Schema.Struct({ integrationId: IntegrationId }))
      .setUrlParams(
        Schema.Struct({
          ...pageQueryFields,
          projectKey: optional(text(1, 100)),
          key: optional(text(1, 100)),
          state: optional(text(1, maxIssueTextLength.state)),
          deleted: optional(queryBoolean("Whether the tracker deleted it"))
        })
      )
      .addSuccess(data(Schema.Array(TrackedIssue)))
      .annotateContext(operation("List the issues an integration tracks", inTenant("VIEWER")))
  )
  .add(
    HttpApiEndpoint.get("get", "/integrations/:integrationId/issues/:issueId")
      .setPath(Schema.Struct({ integrationId: IntegrationId, issueId: TrackedIssueId }))
      .addSuccess(data(TrackedIssue))
      .annotateContext(operation("Get one tracked issue", inTenant("VIEWER")))
  ) {}
