import { HttpApiEndpoint, HttpApiGroup } from "@effect/platform"
import { Schema } from "effect"
import { Limit } from "../../domain/quotas/Quotas.ts"
import { inTenant } from "../api/Access.ts"
import { data } from "../api/Envelope.ts"
import { operation, tag } from "../api/Operation.ts"

export class LimitsApi extends HttpApiGroup.make("limits")
  .annotateContext(
    tag(
      "Limits",
      "Tenants",
      "How much a tenant and a caller can have, and how much they use. A request that would exceed a quota " +
        "gets a 400 with the constraint `quota`, and the message names the quota."
    )
  )
  .add(
    HttpApiEndpoint.get("list", "/limits")
      .addSuccess(data(Schema.Array(Limit)))
      .annotateContext(
        operation("List limits and their usage", inTenant("VIEWER"), {
          description:
            "Lists every quota, and the rate limits if the service has any. Shows how much the tenant and " +
            "you use of each."
        })
      )
  ) {}
