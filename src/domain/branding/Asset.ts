import { Either, Schema } from "effect"
import { fieldError, type ValidationError } from "../Errors.ts"
import { id } from "../Ids.ts"
import { body, integer, oneOf, optional, optionalWithDefault, patch, text, timestamps } from "../Schemas.ts"

export const AssetId = id("ast", "asset")
export type AssetId = typeof AssetId.Type

export const AssetKind = oneOf("BRANDING_LOGO", "BRANDING_BACKGROUND")
export const AssetStatus = oneOf("PENDING", "READY", "FAILED")

/** Maximum size of the image of one asset. */
export const maxImageBytes = 5 * 1024 * 1024

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

const serverSet = {
  source: oneOf("USER_UPLOAD", "GENERATED"),
  status: AssetStatus,
  etag: optional(text(1, 100))
}

/** An asset as the API returns it. */
export const Asset = Schema.Struct({
  assetId: AssetId,
  kind: declared.kind,
  access: declared.access,
  source: serverSet.source,
  status: serverSet.status,
  contentType: declared.contentType,
  originalFileName: declared.originalFileName,
  sizeBytes: declared.sizeBytes,
  etag: serverSet.etag,
  url: optional(text(1, 2000)),
  ...timestamps
}).annotations({ identifier: "Asset" })
export type Asset = typeof Asset.Type

/** An asset as the database stores it, without the URL of its image. */
export const StoredAsset = Schema.Struct({ id: AssetId, ...declared, ...serverSet, ...timestamps })
export type StoredAsset = typeof StoredAsset.Type

export const CreateAsset = body({
  ...declared,
  access: optionalWithDefault(declared.access, "PUBLIC")
}).annotations({ identifier: "CreateAsset" })

/** Applies the defaults to a create request. */
export const applyAssetDefaults = ({ access = "PUBLIC", ...fields }: typeof CreateAsset.Type) => ({ ...fields, access })

export const PatchAsset = patch(changeable).annotations({ identifier: "PatchAsset" })

/** The path that serves the image of an asset. */
export const imagePath = (assetId: string) => `/api/v1/assets/${assetId}`

/** Converts a stored asset for the API. Only a READY asset has a URL. */
export const toAsset = ({ id: assetId, ...asset }: StoredAsset, url: string | undefined): Asset => ({
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

/** Fails for an asset whose bytes are verified: they never change. */
export const requireUploadable = ({ status }: Pick<StoredAsset, "status">): Either.Either<void, ValidationError> =>
  status === "READY"
    ? Either.left(fieldError("status", "state", "is READY; its bytes cannot change. Make another asset"))
    : Either.void
