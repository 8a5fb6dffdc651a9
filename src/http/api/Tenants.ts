import { HttpApiEndpoint, HttpApiGroup, HttpApiSchema } from "@effect/platform"
import { Schema } from "effect"
import { CreateTenant, PatchTenant, Tenant, TenantId } from "../../domain/Tenant.ts"
import { Access, anyCaller, ofTenant } from "./Access.ts"
import { created, data } from "./Envelope.ts"
import { PageQuery } from "./Paging.ts"

const path = Schema.Struct({ tenantId: TenantId })

export class TenantsApi extends HttpApiGroup.make("tenants")
  .add(
    HttpApiEndpoint.get("list", "/tenants")
      .setUrlParams(PageQuery)
      .addSuccess(data(Schema.Array(Tenant)))
      .annotate(Access, anyCaller)
  )
  .add(
    HttpApiEndpoint.post("create", "/tenants")
      .setPayload(CreateTenant)
      .addSuccess(data(Tenant), created)
      .annotate(Access, anyCaller)
  )
  .add(
    HttpApiEndpoint.get("get", "/tenants/:tenantId")
      .setPath(path)
      .addSuccess(data(Tenant))
      .annotate(Access, ofTenant("VIEWER"))
  )
  .add(
    HttpApiEndpoint.patch("patch", "/tenants/:tenantId")
      .setPath(path)
      .setPayload(PatchTenant)
      .addSuccess(data(Tenant))
      .annotate(Access, ofTenant("ADMIN"))
  )
  .add(
    HttpApiEndpoint.del("remove", "/tenants/:tenantId")
      .setPath(path)
      .addSuccess(HttpApiSchema.NoContent)
      .annotate(Access, ofTenant("OWNER", { hidden: true }))
  ) {}
