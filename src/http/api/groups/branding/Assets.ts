import { HttpApiEndpoint, HttpApiGroup, HttpApiSchema, OpenApi } from "@effect/platform"
import { Schema } from "effect"
import { Asset, AssetId, CreateAsset, maxImageBytes, PatchAsset } from "../../../../domain/branding/Asset.ts"
import { optional } from "../../../../domain/Schemas.ts"
import { anyone, External, inTenant, MaxBodyBytes, operation, StreamedUpload } from "../../Access.ts"
import { created, data } from "../../Envelope.ts"
import { PageQuery } from "../../Paging.ts"

const path = Schema.Struct({ assetId: AssetId })

const image = HttpApiSchema.Uint8Array({ contentType: "image/*" })

export class AssetsApi extends HttpApiGroup.make("assets")
  .annotate(OpenApi.Description, "Images for branding: declared, uploaded, verified, and served to browsers")
  .add(
    HttpApiEndpoint.get("list", "/assets")
      .setUrlParams(PageQuery)
      .addSuccess(data(Schema.Array(Asset)))
      .annotateContext(operation("List the records of assets", inTenant("VIEWER")))
  )
  .add(
    HttpApiEndpoint.post("create", "/assets")
      .setPayload(CreateAsset)
      .addSuccess(data(Asset), created)
      .annotateContext(operation("Declare an image that is going to be uploaded", inTenant("MEMBER")))
  )
  .add(
    HttpApiEndpoint.get("record", "/assets/:assetId/record")
      .setPath(path)
      .addSuccess(data(Asset))
      .annotateContext(operation("Get the record of one asset", inTenant("VIEWER")))
  )
  .add(
    HttpApiEndpoint.patch("patch", "/assets/:assetId")
      .setPath(path)
      .setPayload(PatchAsset)
      .addSuccess(data(Asset))
      .annotateContext(operation("Change who may see an image, or its file name", inTenant("MEMBER")))
  )
  .add(
    HttpApiEndpoint.put("upload", "/assets/:assetId/content")
      .setPath(path)
      .setPayload(HttpApiSchema.Uint8Array({ contentType: "application/octet-stream" }))
      .addSuccess(data(Asset))
      .annotateContext(operation("Upload the bytes of an image", inTenant("MEMBER")))
      .annotate(StreamedUpload, true)
      .annotate(MaxBodyBytes, maxImageBytes)
  )
  .add(
    HttpApiEndpoint.post("complete", "/assets/:assetId/complete")
      .setPath(path)
      .addSuccess(data(Asset))
      .annotateContext(operation("Verify an uploaded image and make it ready", inTenant("MEMBER")))
      .annotate(External, true)
  )
  .add(
    HttpApiEndpoint.del("remove", "/assets/:assetId")
      .setPath(path)
      .addSuccess(HttpApiSchema.NoContent)
      .annotateContext(operation("Delete an asset that hangs nowhere", inTenant("MEMBER")))
  )
  .add(
    HttpApiEndpoint.get("serve", "/assets/:assetId")
      .setPath(path)
      .setUrlParams(
        Schema.Struct({ expires: optional(Schema.String), signature: optional(Schema.String) }).annotations({
          description: "As in the url of the record of an asset that is not public"
        })
      )
      .addSuccess(image)
      .annotateContext(operation("Show an image", anyone))
  ) {}
