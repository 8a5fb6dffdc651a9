import { Effect, Either } from "effect"
import { Assets } from "../../layers/branding/Assets.ts"
import { SignedUrls } from "../../layers/infra/blobs/SignedUrls.ts"
import { handleGroup } from "../server/Handlers.ts"
import { CommittedFailure, HandlerResult, StreamedBody } from "../server/response/HandlerResult.ts"
import { listPage } from "../server/response/Paging.ts"
import { AssetsApi } from "./AssetsApi.ts"

/** The sandbox keeps a browser from running scripts in an uploaded file. */
const imageHeaders = (image: { readonly access: string; readonly contentType: string; readonly etag: string }) => ({
  "content-type": image.contentType,
  etag: `"${image.etag}"`,
  "cache-control": image.access === "PUBLIC" ? "public, max-age=3600" : "private, max-age=600",
  "content-security-policy": "default-src 'none'; sandbox",
  "cross-origin-resource-policy": "cross-origin"
})

const dependencies = Effect.all({ assets: Assets, urls: SignedUrls })

export const assets = handleGroup(AssetsApi, dependencies, ({ assets, urls }) => ({
  list: ({ query }) =>
    Effect.map(
      listPage(query, (window) => assets.page(window)),
      ({ next, value }) => new HandlerResult(value.map(assets.withUrl), { next })
    ),
  create: ({ payload }) =>
    Effect.map(
      assets.create(payload),
      (asset) => new HandlerResult(asset, { headers: { location: `/api/v1/assets/${asset.assetId}/record` } })
    ),
  record: ({ path }) => assets.get(path.assetId),
  patch: ({ path, payload }) => assets.patch(path.assetId, payload),
  upload: ({ path, upload }) => assets.upload(path.assetId, upload.bytes, upload.size),
  complete: ({ path }) =>
    Effect.map(
      assets.complete(path.assetId),
      Either.getOrElse((error) => new CommittedFailure(error))
    ),
  remove: ({ path }) => assets.remove(path.assetId),
  serve: ({ path: { assetId }, query: { expires = "", signature = "" } }) =>
    Effect.map(
      assets.openImage(assetId, urls.isValid(assetId, Number(expires), signature)),
      (image) => new HandlerResult(new StreamedBody(image.sizeBytes, image.bytes), { headers: imageHeaders(image) })
    )
}))
