import { HttpApiEndpoint, HttpApiGroup, HttpApiSchema, OpenApi } from "@effect/platform"
import { Schema } from "effect"
import { AttachMedia, Slot } from "../../../../domain/branding/Media.ts"
import { CreateTenant, PatchTenant, Tenant, TenantId } from "../../../../domain/tenancy/Tenant.ts"
import { anyCaller, inPathTenant, operation } from "../../Access.ts"
import { created, data } from "../../Envelope.ts"
import { PageQuery } from "../../Paging.ts"

const mediaPath = Schema.Struct({ tenantId: TenantId, slot: Slot })
const path = Schema.Struct({ tenantId: TenantId })

export class TenantsApi extends HttpApiGroup.make("tenants")
  .annotate(OpenApi.Description, "The businesses that share the service, each for itself")
  .add(
    HttpApiEndpoint.get("list", "/tenants")
      .setUrlParams(PageQuery)
      .addSuccess(data(Schema.Array(Tenant)))
      .annotateContext(operation("List the caller's tenants", anyCaller))
  )
  .add(
    HttpApiEndpoint.post("create", "/tenants")
      .setPayload(CreateTenant)
      .addSuccess(data(Tenant), created)
      .annotateContext(operation("Create a tenant", anyCaller))
  )
  .add(
    HttpApiEndpoint.get("get", "/tenants/:tenantId")
      .setPath(path)
      .addSuccess(data(Tenant))
      .annotateContext(operation("Get one tenant", inPathTenant("VIEWER")))
  )
  .add(
    HttpApiEndpoint.patch("patch", "/tenants/:tenantId")
      .setPath(path)
      .setPayload(PatchTenant)
      .addSuccess(data(Tenant))
      .annotateContext(operation("Change a tenant", inPathTenant("ADMIN")))
  )
  .add(
    HttpApiEndpoint.del("remove", "/tenants/:tenantId")
      .setPath(path)
      .addSuccess(HttpApiSchema.NoContent)
      .annotateContext(operation("Delete a tenant", inPathTenant("OWNER", { hidden: true })))
  )
  .add(
    HttpApiEndpoint.put("attach", "/tenants/:tenantId/media/:slot")
      .setPath(mediaPath)
      .setPayload(AttachMedia)
      .addSuccess(data(Tenant))
      .annotateContext(operation("Hang an image on a tenant", inPathTenant("ADMIN")))
  )
  .add(
    HttpApiEndpoint.del("detach", "/tenants/:tenantId/media/:slot")
      .setPath(mediaPath)
      .addSuccess(HttpApiSchema.NoContent)
      .annotateContext(operation("Take an image off a tenant", inPathTenant("ADMIN")))
  ) {}
