import { Either, Schema } from "effect"
import { fieldError, type ValidationError } from "../Errors.ts"
import { exampleId } from "../Ids.ts"
import { butIs } from "../RejectedValue.ts"
import { body, field, Order, optional, rule } from "../Schemas.ts"
import { AssetId, AssetKind, AssetStatus, imagePath } from "./Asset.ts"

const slotPattern = "^[a-z][a-z0-9-]{0,62}$"

/** The name of an attachment's slot. API users choose the names. */
export const Slot = field(
  Schema.String.pipe(
    Schema.pattern(
      new RegExp(slotPattern),
      rule("pattern", butIs("must be lowercase letters, digits and hyphens, starting with a letter"), {
        pattern: slotPattern
      })
    )
  ),
  "Name of the place for one image, chosen by you. Each slot holds at most one image.",
  "logo"
)

/** An image attached to a tenant or a client. */
export const MediaItem = Schema.Struct({
  attachmentId: field(Schema.String, "Identifier of the attachment.", exampleId("att")),
  slot: field(Schema.String, "Name of the slot that holds the image.", "logo"),
  order: field(Order, "Position among the images, ascending.", 0),
  assetId: field(Schema.String, "Identifier of the asset.", exampleId("ast")),
  kind: AssetKind,
  status: AssetStatus,
  url: field(Schema.String, "Path that serves the image.", imagePath(exampleId("ast")))
}).annotations({ identifier: "MediaItem", description: "An image that is attached to a tenant or a client." })
export type MediaItem = typeof MediaItem.Type

export const AttachMedia = body({
  assetId: field(AssetId, "Identifier of a READY asset of the tenant."),
  order: optional(field(Order, "Position among the images, ascending. Default: 0.", 0))
}).annotations({ identifier: "AttachMedia", description: "The image to attach." })

/** Sorts by `order`, then by slot name. */
export const sortMedia = (items: ReadonlyArray<MediaItem>) =>
  items.toSorted((a, b) => a.order - b.order || (a.slot < b.slot ? -1 : 1))

/** The media item of a new attachment. Only READY assets can be attached. */
export const toMediaItem = (item: Omit<MediaItem, "url" | "status">): MediaItem => ({
  attachmentId: item.attachmentId,
  slot: item.slot,
  order: item.order,
  assetId: item.assetId,
  kind: item.kind,
  status: "READY",
  url: imagePath(item.assetId)
})

type AttachableAsset = Pick<MediaItem, "kind" | "status">

/** The asset, if it exists and its bytes are verified. */
export const requireAttachable = (
  asset: AttachableAsset | undefined
): Either.Either<AttachableAsset, ValidationError> => {
  if (asset === undefined) return Either.left(fieldError("assetId", "exists", "does not exist in this tenant"))
  return asset.status === "READY"
    ? Either.right(asset)
    : Either.left(fieldError("assetId", "state", `is ${asset.status}; only a READY asset can be attached`))
}
