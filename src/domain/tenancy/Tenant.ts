import { Schema } from "effect"
import { MediaItem } from "../branding/Media.ts"
import { id } from "../Ids.ts"
import { body, optional, patch, text, timestamps } from "../Schemas.ts"

export const TenantId = id("tnt", "tenant")
export type TenantId = typeof TenantId.Type

/** Fields that API users can set. The other schemas derive from them. */
const writable = {
  name: text(1, 200),
  description: optional(text(0, 1024))
}

export const Tenant = Schema.Struct({
  id: TenantId,
  ...writable,
  media: Schema.Array(MediaItem),
  ...timestamps
}).annotations({ identifier: "Tenant" })
export type Tenant = typeof Tenant.Type

export const CreateTenant = body(writable).annotations({ identifier: "CreateTenant" })
export const PatchTenant = patch(writable).annotations({ identifier: "PatchTenant" })
