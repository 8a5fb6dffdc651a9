import { Effect, Layer } from "effect"
import { Attachments } from "../../../layers/branding/Attachments.ts"
import { Tenants } from "../../../layers/tenancy/Tenants.ts"
import { TenantsApi } from "../../api/groups/tenancy/Tenants.ts"
import { handleGroup, provideShared } from "../../server/Handlers.ts"
import { listPage } from "../../server/response/Paging.ts"

const dependencies = Effect.all({ tenants: Tenants, attachments: Attachments }).pipe(
  provideShared(Layer.merge(Tenants.Default, Attachments.Default))
)

const mediaTargetOf = ({ slot, tenantId }: { readonly tenantId: string; readonly slot: string }) => ({
  id: tenantId,
  client: undefined,
  slot
})

export const tenants = handleGroup(TenantsApi, dependencies, ({ attachments, tenants }) => ({
  list: ({ query }) => listPage(query, tenants.listForCaller),
  create: ({ payload }) => tenants.create(payload),
  get: ({ path }) => tenants.get(path.tenantId),
  patch: ({ path, payload }) => tenants.patch(path.tenantId, payload),
  remove: ({ path }) => tenants.remove(path.tenantId),
  attach: ({ path, payload }) => attachments.attach(tenants, mediaTargetOf(path), payload),
  detach: ({ path }) => attachments.detach(tenants, mediaTargetOf(path))
}))
