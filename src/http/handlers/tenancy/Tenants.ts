import { Effect, Layer } from "effect"
import { Attachments } from "../../../layers/sql/branding/Attachments.ts"
import { Tenants } from "../../../layers/sql/tenancy/Tenants.ts"
import { TenantsApi } from "../../api/groups/tenancy/Tenants.ts"
import { handle } from "../../edge/Handlers.ts"
import { paged } from "../../edge/response/Paging.ts"

const needs = Effect.all({ tenants: Tenants, attachments: Attachments }).pipe(
  Effect.provide(Layer.merge(Tenants.Default, Attachments.Default))
)

const placeOf = ({ slot, tenantId }: { readonly tenantId: string; readonly slot: string }) => ({
  id: tenantId,
  client: undefined,
  slot
})

export const tenants = handle(TenantsApi, needs, ({ attachments, tenants }) => ({
  list: ({ query }) => paged(query, tenants.ofCaller),
  create: ({ payload }) => tenants.create(payload),
  get: ({ path }) => tenants.get(path.tenantId),
  patch: ({ path, payload }) => tenants.patch(path.tenantId, payload),
  remove: ({ path }) => tenants.remove(path.tenantId),
  attach: ({ path, payload }) => attachments.attach(tenants, placeOf(path), payload),
  detach: ({ path }) => attachments.detach(tenants, placeOf(path))
}))
