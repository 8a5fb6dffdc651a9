import { Schema } from "effect"
import { id } from "../Ids.ts"
import { body, defaulting, integer, oneOf, optional, patch, stamps, text } from "../Schemas.ts"

export const AssetId = id("ast", "asset")
export type AssetId = typeof AssetId.Type

export const AssetKind = oneOf("BRANDING_LOGO", "BRANDING_BACKGROUND")
export const AssetStatus = oneOf("PENDING", "READY", "FAILED")

/** The most bytes an asset can have. */
export const mostBytes = 5 * 1024 * 1024

const changeable = {
  access: oneOf("PUBLIC", "SIGNED"),
  originalFileName: optional(text(1, 255))
}

const declared = {
  kind: AssetKind,
  ...changeable,
  contentType: oneOf("image/png", "image/jpeg", "image/webp", "image/gif"),
  sizeBytes: optional(integer(1, Number.MAX_SAFE_INTEGER))
}

const made = {
  source: oneOf("USER_UPLOAD", "GENERATED"),
  status: AssetStatus,
  etag: optional(text(1, 100))
}

/** An asset as the interface shows it, and nothing beyond. */
export const Asset = Schema.Struct({
  assetId: AssetId,
  kind: declared.kind,
  access: declared.access,
  source: made.source,
  status: made.status,
  contentType: declared.contentType,
  originalFileName: declared.originalFileName,
  sizeBytes: declared.sizeBytes,
  etag: made.etag,
  url: optional(text(1, 2000)),
  ...stamps
}).annotations({ identifier: "Asset" })
export type Asset = typeof Asset.Type

/** An asset as it is kept: where its image is to be had is told when it is shown. */
export const StoredAsset = Schema.Struct({ id: AssetId, ...declared, ...made, ...stamps })
export type StoredAsset = typeof StoredAsset.Type

export const CreateAsset = body({
  ...declared,
  access: defaulting(declared.access, "PUBLIC")
}).annotations({ identifier: "CreateAsset" })

/** The asset with what its maker left out filled in. */
export const filledAsset = ({ access = "PUBLIC", ...fields }: typeof CreateAsset.Type) => ({ ...fields, access })

export const PatchAsset = patch(changeable).annotations({ identifier: "PatchAsset" })

/** The path an image is served at. */
export const imagePath = (assetId: string) => `/api/v1/assets/${assetId}`

/** An asset as the interface shows it, with where its image is to be had once there is one. */
export const shownAsset = ({ id: assetId, ...asset }: StoredAsset, url: string | undefined): Asset => ({
  assetId,
  kind: asset.kind,
  access: asset.access,
  source: asset.source,
  status: asset.status,
  contentType: asset.contentType,
  ...(asset.originalFileName === undefined ? {} : { originalFileName: asset.originalFileName }),
  ...(asset.sizeBytes === undefined ? {} : { sizeBytes: asset.sizeBytes }),
  ...(asset.etag === undefined ? {} : { etag: asset.etag }),
  ...(url === undefined || asset.status !== "READY" ? {} : { url }),
  createdAt: asset.createdAt,
  updatedAt: asset.updatedAt
})
