import { Schema } from "effect"
import { MediaItem } from "../branding/Media.ts"
import { id } from "../Ids.ts"
import { body, field, optional, patch, text, timestamps } from "../Schemas.ts"

export const TenantId = id("tnt", "tenant")
export type TenantId = typeof TenantId.Type

/** Fields that API users can set. The other schemas derive from them. */
const writable = {
  name: field(text(1, 200), "Name of the business, as invoices show it.", "Harbour Works"),
  description: optional(field(text(0, 1024), "Free text about the tenant.", "Repairs in the old harbour"))
}

export const Tenant = Schema.Struct({
  id: TenantId,
  ...writable,
  media: field(Schema.Array(MediaItem), "Images attached to the tenant, by `order`, then by slot."),
  ...timestamps
}).annotations({ identifier: "Tenant", description: "A business that uses the service, separate from all others." })
export type Tenant = typeof Tenant.Type

export const CreateTenant = body(writable).annotations({ identifier: "CreateTenant", description: "A new tenant." })
export const PatchTenant = patch(writable).annotations({
  identifier: "PatchTenant",
  description: "The fields of a tenant to change."
})
