import * as SqlClient from "@effect/sql/SqlClient"
import { Effect, Either, Stream } from "effect"
import {
  type Asset,
  applyAssetDefaults,
  type CreateAsset,
  imagePath,
  type PatchAsset,
  requireUploadable,
  StoredAsset,
  toAsset
} from "../../domain/branding/Asset.ts"
import { fieldError, NotFound, type ValidationError } from "../../domain/Errors.ts"
import type { PageRequest } from "../../domain/Paging.ts"
import { CurrentTenant, IfMatch } from "../../domain/tenancy/RequestContext.ts"
import type { TenantId } from "../../domain/tenancy/Tenant.ts"
import { SignedUrls } from "../infra/blobs/SignedUrls.ts"
import { makeFairSemaphore } from "../infra/concurrency/FairSemaphore.ts"
import { makeToRequestError } from "../infra/concurrency/RequestRejection.ts"
import { inTransaction } from "../infra/postgres/connection/Transactions.ts"
import { makeResource } from "../infra/postgres/repository/Resource.ts"
import type { Versioned } from "../infra/postgres/repository/ResourceSpec.ts"
import { withSpans } from "../infra/telemetry/UseCaseSpans.ts"
import { Quotas } from "../quotas/Quotas.ts"
import { Blobs, type StagedUpload } from "./Blobs.ts"
import { verifyImage } from "./ImageVerifier.ts"

const notUploaded = fieldError(
  "content",
  "required",
  "is not uploaded yet; send the image with PUT /assets/{assetId}/content first"
)

/** One image at a time: a decoder takes a core and up to 200 MB. */
const verificationLimits = {
  permits: 1,
  maxPerKey: 1,
  maxQueuedPerKey: 16,
  maxQueued: 256,
  timeout: "10 seconds"
} as const

interface ServedImage {
  readonly tenant: string
  readonly digest: string
  readonly access: string
  readonly contentType: string
  readonly sizeBytes: number
  readonly etag: string
}

const replacedMessage = "was replaced during its verification; complete the asset again"

/** The cleanup checks this again under the lock, because a client can have resumed the upload. */
const isStale = ({ status, updatedAt }: StoredAsset) =>
  status !== "READY" && Date.parse(updatedAt) < Date.now() - 24 * 60 * 60 * 1000

/** The READY asset, or the reason why it is FAILED. */
type CompletionResult = Either.Either<Asset, ValidationError>

type Verification = Either.Either<Pick<StoredAsset, "etag" | "sizeBytes">, string>

/** Images of a tenant. A client declares an asset, uploads its bytes, and completes it, which verifies them. */
export class Assets extends Effect.Service<Assets>()("layers/Assets", {
  dependencies: [SignedUrls.Default, Blobs.Default, Quotas.Default],
  effect: Effect.gen(function* () {
    const sql = yield* SqlClient.SqlClient
    const blobs = yield* Blobs
    const urls = yield* SignedUrls
    const quotas = yield* Quotas
    const addUrl = (asset: StoredAsset) =>
      toAsset(asset, asset.access === "PUBLIC" ? imagePath(asset.id) : urls.sign(asset.id))
    // Every receiver could open a private image with its signed URL.
    const withoutSignedUrl = (asset: StoredAsset) =>
      toAsset(asset, asset.access === "PUBLIC" ? imagePath(asset.id) : undefined)
    const assets = yield* makeResource({
      name: "asset",
      table: "assets",
      entity: StoredAsset,
      toEventData: withoutSignedUrl,
      toResponseBody: addUrl
    })

    const digestOf = (id: string) =>
      Effect.flatMap(CurrentTenant, (tenant) =>
        Effect.orDie(sql<{ digest: string | null }>`
          select digest from assets where tenant_id = ${tenant} and id = ${id}`)
      ).pipe(Effect.map(([row]) => row?.digest ?? undefined))

    /** Replaces the bytes of an asset. A FAILED asset becomes PENDING again. */
    const replaceBytes = Effect.fnUntraced(function* (current: Versioned<StoredAsset>, uploaded: StagedUpload) {
      const previousDigest = yield* digestOf(current.value.id)
      const isPromoted = yield* blobs.promote(uploaded, "image")
      const value = yield* assets.updateLocked(
        current,
        "updated",
        { ...current.value, status: "PENDING" },
        { columns: { digest: uploaded.digest } }
      )
      if (previousDigest !== undefined && previousDigest !== uploaded.digest) yield* blobs.release(previousDigest)
      return { value, isPromoted }
    })
    const saveUpload = (id: string, uploaded: StagedUpload) =>
      assets.lockForWrite(id).pipe(
        Effect.tap(({ value }) => requireUploadable(value)),
        Effect.flatMap((current) => quotas.limitBytes(replaceBytes(current, uploaded), "body")),
        inTransaction(sql)
      )

    /** Reads and verifies the bytes before any row is locked. */
    const verify = Effect.fnUntraced(function* ({ contentType, sizeBytes }: StoredAsset, digest: string) {
      const tenant = yield* CurrentTenant
      const chunks = yield* Stream.runCollect(blobs.read(tenant, digest))
      const bytes = Buffer.concat([...chunks])
      if (sizeBytes !== undefined && sizeBytes !== bytes.length) {
        return Either.left(`has ${bytes.length} bytes and was declared to have ${sizeBytes}`)
      }
      return Either.map(yield* verifyImage(bytes, contentType), () => ({ etag: digest, sizeBytes: bytes.length }))
    })
    /** Missing bytes are no defect when a concurrent request has deleted the asset or replaced its bytes. */
    const verifyUnlessReplaced = (id: string, asset: StoredAsset, digest: string) =>
      Effect.catchAllDefect(verify(asset, digest), (defect) =>
        Effect.gen(function* () {
          yield* assets.get(id)
          if ((yield* digestOf(id)) === digest) return yield* Effect.die(defect)
          return Either.left(replacedMessage)
        })
      )
    const verifications = makeFairSemaphore(verificationLimits, makeToRequestError("images"))

    /** Saves the verification, unless a concurrent request has saved one or replaced the bytes. */
    const saveVerification = Effect.fnUntraced(function* (id: string, digest: string, verification: Verification) {
      const current = yield* assets.lockForWrite(id)
      if (current.value.status === "READY" || (yield* digestOf(id)) !== digest) return current.value
      return yield* Either.match(verification, {
        onLeft: () => assets.updateLocked(current, "failed", { ...current.value, status: "FAILED" }),
        onRight: (facts) => assets.updateLocked(current, "ready", { ...current.value, ...facts, status: "READY" })
      })
    })

    const completed = (asset: StoredAsset): CompletionResult => Either.right(addUrl(asset))
    const rejected = (reason: string): CompletionResult => Either.left(fieldError("content", "format", reason))

    const complete = Effect.fnUntraced(function* (id: string) {
      const asset = yield* assets.get(id)
      if (asset.status === "READY") return completed(asset)
      const digest = yield* digestOf(id)
      if (digest === undefined) return yield* Effect.fail(notUploaded)
      const tenant = yield* CurrentTenant
      const verification = yield* verifications.withPermit([tenant], verifyUnlessReplaced(id, asset, digest))
      const saved = yield* inTransaction(sql)(saveVerification(id, digest, verification))
      if (saved.status === "READY") return completed(saved)
      return rejected(Either.isLeft(verification) ? verification.left : replacedMessage)
    })

    const remove = (id: string, isRemovable: (asset: StoredAsset) => boolean = () => true) =>
      Effect.gen(function* () {
        const current = yield* assets.lockForWrite(id)
        if (!isRemovable(current.value)) return
        const digest = yield* digestOf(id)
        yield* assets.deleteLocked(current)
        if (digest !== undefined) yield* blobs.release(digest)
      }).pipe(inTransaction(sql), assets.withUseCount(id))

    return {
      create: (fields: typeof CreateAsset.Type) =>
        quotas
          .requireTenantQuota("assets", "kind")
          .pipe(
            Effect.zipRight(assets.create({ ...applyAssetDefaults(fields), source: "USER_UPLOAD", status: "PENDING" })),
            Effect.map(addUrl),
            inTransaction(sql)
          ),
      page: (window: PageRequest) => assets.page(window),
      /** One page in the order of creation, without signed URLs. */
      pageByAge: (after: string | undefined, limit: number) =>
        Effect.map(assets.pageByAge(after, limit), (rows) => rows.map(withoutSignedUrl)),
      withUrl: addUrl,
      get: (id: string) => Effect.map(assets.get(id), addUrl),
      patch: (id: string, change: typeof PatchAsset.Type) => Effect.map(assets.patch(id, change), addUrl),

      /** Receives all bytes before the transaction begins, so that a slow client holds no locks. */
      upload: <E>(id: string, bytes: Stream.Stream<Uint8Array, E>, size: number | undefined) =>
        Effect.gen(function* () {
          yield* Effect.flatMap(assets.get(id), requireUploadable)
          const uploaded = yield* blobs.upload(bytes, size)
          if (uploaded.sizeBytes === 0) {
            yield* blobs.discard(uploaded)
            return yield* Effect.fail(fieldError("body", "required", "is empty; send the bytes of the image"))
          }
          const { isPromoted, value } = yield* Effect.onError(saveUpload(id, uploaded), () =>
            Effect.ignoreLogged(blobs.discard(uploaded))
          )
          if (!isPromoted) yield* blobs.discard(uploaded)
          return addUrl(value)
        }),

      /** Verifies the uploaded bytes. A rejected image is a value and no error: the asset is FAILED then. */
      complete,

      /** Deletes up to `max` assets that are not READY and have not changed for a day. Returns their number. */
      deleteStale: (max: number) =>
        Effect.orDie(sql<{ tenant: TenantId; id: string }>`
          select tenant_id as tenant, id from assets
          where status <> 'READY' and updated_at < now() - interval '1 day' limit ${max}`).pipe(
          Effect.tap((stale) =>
            Effect.forEach(stale, ({ id, tenant }) =>
              remove(id, isStale).pipe(
                Effect.catchTag("NotFound", () => Effect.void),
                Effect.provideService(CurrentTenant, tenant),
                Effect.provideService(IfMatch, undefined)
              )
            )
          ),
          Effect.map((stale) => stale.length)
        ),

      remove: (id: string) => remove(id),
      /** Opens a READY image. An image that is not public needs a valid signature. */
      openImage: Effect.fnUntraced(function* (id: string, isSigned: boolean) {
        const [row] = yield* Effect.orDie(sql<ServedImage>`
          select tenant_id as tenant, digest, access, content_type as "contentType", size_bytes as "sizeBytes", etag
          from assets join tenants on tenants.id = tenant_id and tenants.deleted_at is null
          where assets.id = ${id} and status = 'READY'`)
        if (row === undefined || (row.access !== "PUBLIC" && !isSigned)) return yield* Effect.fail(new NotFound())
        return { ...row, bytes: blobs.read(row.tenant, row.digest) }
      })
    }
  }).pipe(withSpans("Assets"))
}) {}
