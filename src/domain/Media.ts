import { Schema } from "effect"
import { Order, oneOf } from "./Schemas.ts"

export const MediaItem = Schema.Struct({
  attachmentId: Schema.String,
  slot: Schema.String,
  order: Order,
  assetId: Schema.String,
  kind: oneOf("BRANDING_LOGO", "BRANDING_BACKGROUND"),
  status: oneOf("PENDING", "READY", "FAILED"),
  url: Schema.String
}).annotations({ identifier: "MediaItem" })
