import { Schema } from "effect"
import { MediaItem } from "../branding/Media.ts"
import { id } from "../Ids.ts"
import { body, Order, optional, patch, text, timestamps } from "../Schemas.ts"

export const ClientId = id("clnt", "client")
export type ClientId = typeof ClientId.Type

/** Fields that API users can set. The other schemas derive from them. */
const writable = {
  name: text(1, 200),
  description: optional(text(0, 1024)),
  order: optional(Order)
}

export const Client = Schema.Struct({
  id: ClientId,
  ...writable,
  media: Schema.Array(MediaItem),
  ...timestamps
}).annotations({ identifier: "Client" })
export type Client = typeof Client.Type

export const CreateClient = body(writable).annotations({ identifier: "CreateClient" })
export const PatchClient = patch(writable).annotations({ identifier: "PatchClient" })
