import { Either, Schema } from "effect"
import { fieldError, type ValidationError } from "../Errors.ts"
import { exampleId, id } from "../Ids.ts"
import { body, field, integer, oneOf, optional, optionalWithDefault, patch, text, timestamps } from "../Schemas.ts"

export const AssetId = id("ast", "asset")
export type AssetId = typeof AssetId.Type

export const AssetKind = field(
  oneOf("BRANDING_LOGO", "BRANDING_BACKGROUND"),
  "What invoices use the image for: as a logo, or as the background of the page.",
  "BRANDING_LOGO"
)
export const AssetStatus = field(
  oneOf("PENDING", "READY", "FAILED"),
  "PENDING: not verified yet. READY: verified and served. FAILED: the uploaded file was rejected; upload another.",
  "READY"
)

/** Maximum size of the image of one asset. */
export const maxImageBytes = 5 * 1024 * 1024

const changeable = {
  access: field(
    oneOf("PUBLIC", "SIGNED"),
    "PUBLIC: everyone with the URL can open the image. SIGNED: only a signed URL opens it.",
    "PUBLIC"
  ),
  originalFileName: optional(field(text(1, 255), "Name of the file on the device that uploads it.", "logo.png"))
}

const declared = {
  kind: AssetKind,
  ...changeable,
  contentType: field(
    oneOf("image/png", "image/jpeg", "image/webp", "image/gif"),
    "Format of the image. The uploaded file must have it.",
    "image/png"
  ),
  sizeBytes: optional(
    field(
      integer(1, Number.MAX_SAFE_INTEGER),
      "Size of the file in bytes. If given, the uploaded file must have it.",
      24_341
    )
  )
}

const serverSet = {
  source: field(oneOf("USER_UPLOAD", "GENERATED"), "Where the image comes from.", "USER_UPLOAD"),
  status: AssetStatus,
  etag: optional(
    field(
      text(1, 100),
      "SHA-256 digest of the verified file, which is also the ETag of the image.",
      "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08"
    )
  )
}

/** The path that serves the image of an asset. */
export const imagePath = (assetId: string) => `/api/v1/assets/${assetId}`

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
  url: optional(
    field(
      text(1, 2000),
      "Path that serves the image, once it is READY. For a SIGNED asset it includes a signature that expires.",
      imagePath(exampleId("ast"))
    )
  ),
  ...timestamps
}).annotations({ identifier: "Asset", description: "An image of a tenant, with its verification status." })
export type Asset = typeof Asset.Type

/** An asset as the database stores it, without the URL of its image. */
export const StoredAsset = Schema.Struct({ id: AssetId, ...declared, ...serverSet, ...timestamps })
export type StoredAsset = typeof StoredAsset.Type

export const CreateAsset = body({
  ...declared,
  access: optionalWithDefault(declared.access, "PUBLIC")
}).annotations({ identifier: "CreateAsset", description: "An image that you are going to upload." })

/** Applies the defaults to a create request. */
export const applyAssetDefaults = ({ access = "PUBLIC", ...fields }: typeof CreateAsset.Type) => ({ ...fields, access })

export const PatchAsset = patch(changeable).annotations({
  identifier: "PatchAsset",
  description: "The fields of an asset to change."
})

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
    ? Either.left(fieldError("status", "state", "is READY, so its image cannot change; create another asset"))
    : Either.void
