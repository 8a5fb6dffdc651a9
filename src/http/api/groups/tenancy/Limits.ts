import { HttpApiEndpoint, HttpApiGroup, OpenApi } from "@effect/platform"
import { Schema } from "effect"
import { Limit } from "../../../../domain/Quotas.ts"
import { inTenant, operation } from "../../Access.ts"
import { data } from "../../Envelope.ts"

export class LimitsApi extends HttpApiGroup.make("limits")
  .annotate(
    OpenApi.Description,
    "How much a tenant and a caller can have, and how much of it is used. A request that would exceed a quota gets a 400 with the constraint quota and a message that names it"
  )
  .add(
    HttpApiEndpoint.get("list", "/limits")
      .addSuccess(data(Schema.Array(Limit)))
      .annotateContext(operation("List the quotas of the tenant and the caller, with what is used", inTenant("VIEWER")))
  ) {}
