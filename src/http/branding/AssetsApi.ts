import { HttpApiEndpoint, HttpApiGroup, HttpApiSchema } from "@effect/platform"
import { Schema } from "effect"
import { Asset, AssetId, CreateAsset, maxImageBytes, PatchAsset } from "../../domain/branding/Asset.ts"
import { field, optional } from "../../domain/Schemas.ts"
import { anyone, External, inTenant, MaxBodyBytes, StreamedUpload } from "../api/Access.ts"
import { created, data } from "../api/Envelope.ts"
import { operation, tag } from "../api/Operation.ts"
import { PageQuery } from "../api/Paging.ts"

const path = Schema.Struct({ assetId: AssetId })

/** How the example of an asset before its verification differs. */
const unverified = { status: "PENDING", etag: undefined, url: undefined }

const image = HttpApiSchema.Uint8Array({ contentType: "image/*" })

export class AssetsApi extends HttpApiGroup.make("assets")
  .annotateContext(
    tag(
      "Assets",
      "Images",
      "Images for invoices. Declare an image, upload its file, complete it, and attach it to a tenant or a client."
    )
  )
  .add(
    HttpApiEndpoint.get("list", "/assets")
      .setUrlParams(PageQuery)
      .addSuccess(data(Schema.Array(Asset)))
      .annotateContext(
        operation("List assets", inTenant("VIEWER"), {
          description: "Lists the assets of the tenant, oldest first, one page at a time."
        })
      )
  )
  .add(
    HttpApiEndpoint.post("create", "/assets")
      .setPayload(CreateAsset)
      .addSuccess(data(Asset), created)
      .annotateContext(
        operation("Declare an asset", inTenant("MEMBER"), {
          description:
            "Declares an image. Then upload its file to `/assets/{assetId}/content`, and complete it. An " +
            "asset that is not completed within a day is deleted.",
          rejects: ["one asset more than a tenant can have (`quota`)"],
          events: ["asset.created"],
          example: unverified
        })
      )
  )
  .add(
    HttpApiEndpoint.get("record", "/assets/:assetId/record")
      .setPath(path)
      .addSuccess(data(Asset))
      .annotateContext(
        operation("Get an asset", inTenant("VIEWER"), {
          description: "Returns an asset with its status. `GET /assets/{assetId}` returns the image itself."
        })
      )
  )
  .add(
    HttpApiEndpoint.patch("patch", "/assets/:assetId")
      .setPath(path)
      .setPayload(PatchAsset)
      .addSuccess(data(Asset))
      .annotateContext(
        operation("Update an asset", inTenant("MEMBER"), {
          description: "Changes who can open the image, or its file name.",
          events: ["asset.updated"]
        })
      )
  )
  .add(
    HttpApiEndpoint.put("upload", "/assets/:assetId/content")
      .setPath(path)
      .setPayload(HttpApiSchema.Uint8Array({ contentType: "application/octet-stream" }))
      .addSuccess(data(Asset))
      .annotateContext(
        operation("Upload the file of an asset", inTenant("MEMBER"), {
          description:
            `Receives the file of a declared image, and replaces the file before it. Send at most ${maxImageBytes} bytes as ` +
            "`application/octet-stream`. The file is checked when you complete the asset.",
          rejects: [
            "an empty file (`required`)",
            "an asset that is READY: its image never changes (`state`)",
            "a file beyond the bytes that a tenant can store (`quota`)"
          ],
          events: ["asset.updated"],
          example: unverified
        })
      )
      .annotate(StreamedUpload, true)
      .annotate(MaxBodyBytes, maxImageBytes)
  )
  .add(
    HttpApiEndpoint.post("complete", "/assets/:assetId/complete")
      .setPath(path)
      .addSuccess(data(Asset))
      .annotateContext(
        operation("Complete an asset", inTenant("MEMBER"), {
          description:
            "Checks the uploaded file and makes the asset READY. To complete a READY asset again returns it unchanged.",
          rejects: [
            "an asset without a file (`required`)",
            "a file that is damaged, or is not the declared image (`format`): the asset is FAILED then, and " +
              "takes another upload"
          ],
          events: ["asset.ready", "asset.failed"]
        })
      )
      .annotate(External, true)
  )
  .add(
    HttpApiEndpoint.del("remove", "/assets/:assetId")
      .setPath(path)
      .addSuccess(HttpApiSchema.NoContent)
      .annotateContext(
        operation("Delete an asset", inTenant("MEMBER"), {
          description: "Deletes an asset and its image. Finalized invoices keep the image.",
          rejects: ["an asset that is attached to a tenant or a client (`inUse`)"],
          events: ["asset.deleted"]
        })
      )
  )
  .add(
    HttpApiEndpoint.get("serve", "/assets/:assetId")
      .setPath(path)
      .setUrlParams(
        Schema.Struct({
          expires: optional(field(Schema.String, "When the signature expires, as in the `url` of a SIGNED asset.")),
          signature: optional(field(Schema.String, "The signature, as in the `url` of a SIGNED asset."))
        })
      )
      .addSuccess(image)
      .annotateContext(
        operation("Show an image", anyone, {
          description:
            "Returns the image of a READY asset. A PUBLIC one needs no token. A SIGNED one needs `expires` " +
            "and `signature`, as in the `url` of the asset.",
          rejects: [
            "a SIGNED asset with a missing, wrong or expired signature (404)",
            "an asset that is not READY (404)"
          ]
        })
      )
  ) {}
