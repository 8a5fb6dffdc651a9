import { Effect, Stream } from "effect"
import { CurrentTenant } from "../../domain/tenancy/RequestContext.ts"
import { Attachments } from "../../layers/branding/Attachments.ts"
import { TenantExport } from "../../layers/export/TenantExport.ts"
import { Tenants } from "../../layers/tenancy/Tenants.ts"
import { handleGroup } from "../server/Handlers.ts"
import { HandlerResult, StreamedBody } from "../server/response/HandlerResult.ts"
import { listPage } from "../server/response/Paging.ts"
import { TenantsApi } from "./TenantsApi.ts"

const dependencies = Effect.all({ tenants: Tenants, attachments: Attachments, exports: TenantExport })

const mediaTargetOf = ({ slot, tenantId }: { readonly tenantId: string; readonly slot: string }) => ({
  id: tenantId,
  client: undefined,
  slot
})

const archiveResult = (tenant: CurrentTenant["Type"], archive: Stream.Stream<Uint8Array, never, CurrentTenant>) =>
  new HandlerResult(new StreamedBody(undefined, Stream.provideService(archive, CurrentTenant, tenant), "exports"), {
    headers: { "content-type": "application/zip", "content-disposition": `attachment; filename="${tenant}.zip"` }
  })

export const tenants = handleGroup(TenantsApi, dependencies, ({ attachments, exports, tenants }) => ({
  list: ({ query }) => listPage(query, tenants.listForCaller),
  create: ({ payload }) => tenants.create(payload),
  get: ({ path }) => tenants.get(path.tenantId),
  patch: ({ path, payload }) => tenants.patch(path.tenantId, payload),
  remove: ({ path }) => tenants.remove(path.tenantId),
  export: ({ path }) => Effect.succeed(archiveResult(path.tenantId, exports.archive)),
  attach: ({ path, payload }) => attachments.attach(tenants, mediaTargetOf(path), payload),
  detach: ({ path }) => attachments.detach(tenants, mediaTargetOf(path))
}))
