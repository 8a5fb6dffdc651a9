import * as SqlClient from "@effect/sql/SqlClient"
import { Effect, Either, Stream } from "effect"
import {
  type Asset,
  type CreateAsset,
  filledAsset,
  imagePath,
  type PatchAsset,
  StoredAsset,
  shownAsset
} from "../../domain/branding/Asset.ts"
import { acceptImage } from "../../domain/branding/ImageFile.ts"
import { breaks, NotFound, type ValidationError } from "../../domain/Errors.ts"
import type { Window } from "../../domain/Paging.ts"
import { CurrentTenant, IfMatch } from "../../domain/tenancy/Caller.ts"
import type { TenantId } from "../../domain/tenancy/Tenant.ts"
import { SignedUrls } from "../blobs/SignedUrls.ts"
import { atomically } from "../postgres/connection/Transaction.ts"
import { resource } from "../postgres/repository/Resource.ts"
import type { Versioned } from "../postgres/repository/ResourceSpec.ts"
import { Quotas } from "../quotas/Quotas.ts"
import { Blobs, type Uploaded } from "./Blobs.ts"

const notUploaded = breaks(
  "content",
  "required",
  "has not been uploaded yet; PUT the bytes to /assets/{assetId}/content"
)

/** What the bytes must be besides an image: as many as were declared. */
const sized = (declared: number | undefined, bytes: Uint8Array) =>
  declared === undefined || declared === bytes.length
    ? Either.right(bytes)
    : Either.left(`has ${bytes.length} bytes and was declared to have ${declared}`)

interface Image {
  readonly tenant: string
  readonly digest: string
  readonly access: string
  readonly contentType: string
  readonly sizeBytes: number
  readonly etag: string
}

const changedMeanwhile = "was replaced while it was looked at; complete it again"

/** Whether an asset is still one that the upkeep takes away: somebody may have come back to it. */
const isStale = ({ status, updatedAt }: StoredAsset) =>
  status !== "READY" && Date.parse(updatedAt) < Date.now() - 24 * 60 * 60 * 1000

/** The asset that is ready now, or why it has failed. */
type Completed = Either.Either<Asset, ValidationError>

type Verdict = Either.Either<Pick<StoredAsset, "etag" | "sizeBytes">, string>

/** The images of a tenant: declared, uploaded, verified. */
export class Assets extends Effect.Service<Assets>()("layers/Assets", {
  dependencies: [SignedUrls.Default, Blobs.Default, Quotas.Default],
  effect: Effect.gen(function* () {
    const sql = yield* SqlClient.SqlClient
    const blobs = yield* Blobs
    const urls = yield* SignedUrls
    const quotas = yield* Quotas
    const shown = (asset: StoredAsset) =>
      shownAsset(asset, asset.access === "PUBLIC" ? imagePath(asset.id) : urls.of(asset.id))
    const assets = yield* resource({
      name: "asset",
      table: "assets",
      entity: StoredAsset,
      // An address that opens to whoever has it is not for everyone an event goes to.
      shown: (asset) => shownAsset(asset, asset.access === "PUBLIC" ? imagePath(asset.id) : undefined),
      answered: shown
    })

    const digestOf = (id: string) =>
      Effect.flatMap(CurrentTenant, (tenant) =>
        Effect.orDie(sql<{ digest: string | null }>`
          select digest from assets where tenant_id = ${tenant} and id = ${id}`)
      ).pipe(Effect.map(([row]) => row?.digest ?? undefined))

    const mayUpload = ({ status }: StoredAsset) =>
      status === "READY"
        ? Effect.fail(breaks("status", "state", "is READY; its bytes cannot change. Make another asset"))
        : Effect.void

    /** Makes uploaded bytes those of the asset, in place of any before, and lets it be tried again if it had failed. */
    const replaceBytes = Effect.fnUntraced(function* (seen: Versioned<StoredAsset>, uploaded: Uploaded) {
      const before = yield* digestOf(seen.value.id)
      const isKept = yield* blobs.adopt(uploaded, "image")
      const value = yield* assets.rewrite(
        seen,
        "updated",
        { ...seen.value, status: "PENDING" },
        { columns: { digest: uploaded.digest } }
      )
      if (before !== undefined && before !== uploaded.digest) yield* blobs.release(before)
      return { value, isKept }
    })
    const take = (id: string, uploaded: Uploaded) =>
      assets.hold(id).pipe(
        Effect.tap(({ value }) => mayUpload(value)),
        Effect.flatMap((seen) => quotas.limitBytes(replaceBytes(seen, uploaded), "body")),
        atomically(sql)
      )

    /** What the bytes turn out to be: read and judged before anything is locked. */
    const judge = Effect.fnUntraced(function* ({ contentType, sizeBytes }: StoredAsset, digest: string) {
      const tenant = yield* CurrentTenant
      const pieces = yield* Stream.runCollect(blobs.read(tenant, digest))
      const bytes = Buffer.concat([...pieces])
      const verdict = Either.flatMap(sized(sizeBytes, bytes), (bytes) => acceptImage(bytes, contentType))
      return Either.map(verdict, () => ({ etag: digest, sizeBytes: bytes.length }))
    })
    /** Bytes that are gone are no fault once the asset is gone as well, or has others. */
    const judgeUnlessChanged = (id: string, asset: StoredAsset, digest: string) =>
      Effect.catchAllDefect(judge(asset, digest), (defect) =>
        Effect.gen(function* () {
          yield* assets.get(id)
          if ((yield* digestOf(id)) === digest) return yield* Effect.die(defect)
          return Either.left(changedMeanwhile)
        })
      )
    /** Each holds a whole image, so there are never many. */
    const judging = Effect.unsafeMakeSemaphore(4)

    /** Writes the verdict down, unless somebody else did, or brought other bytes, meanwhile. */
    const conclude = Effect.fnUntraced(function* (id: string, digest: string, verdict: Verdict) {
      const seen = yield* assets.hold(id)
      if (seen.value.status === "READY" || (yield* digestOf(id)) !== digest) return seen.value
      return yield* Either.match(verdict, {
        onLeft: () => assets.rewrite(seen, "failed", { ...seen.value, status: "FAILED" }),
        onRight: (facts) => assets.rewrite(seen, "ready", { ...seen.value, ...facts, status: "READY" })
      })
    })

    const completed = (asset: StoredAsset): Completed => Either.right(shown(asset))
    const refused = (why: string): Completed => Either.left(breaks("content", "format", why))

    const complete = Effect.fnUntraced(function* (id: string) {
      const asset = yield* assets.get(id)
      if (asset.status === "READY") return completed(asset)
      const digest = yield* digestOf(id)
      if (digest === undefined) return yield* Effect.fail(notUploaded)
      const verdict = yield* judging.withPermits(1)(judgeUnlessChanged(id, asset, digest))
      const concluded = yield* atomically(sql)(conclude(id, digest, verdict))
      if (concluded.status === "READY") return completed(concluded)
      return refused(Either.isLeft(verdict) ? verdict.left : changedMeanwhile)
    })

    const remove = (id: string, isWanted: (asset: StoredAsset) => boolean = () => true) =>
      Effect.gen(function* () {
        const seen = yield* assets.hold(id)
        if (!isWanted(seen.value)) return
        const digest = yield* digestOf(id)
        yield* assets.discard(seen)
        if (digest !== undefined) yield* blobs.release(digest)
      }).pipe(atomically(sql))

    return {
      create: (fields: typeof CreateAsset.Type) =>
        quotas
          .requireRoom("assets", "kind")
          .pipe(
            Effect.zipRight(assets.create({ ...filledAsset(fields), source: "USER_UPLOAD", status: "PENDING" })),
            Effect.map(shown),
            atomically(sql)
          ),
      page: (window: Window) => assets.page(window),
      shown,
      get: (id: string) => Effect.map(assets.get(id), shown),
      patch: (id: string, change: typeof PatchAsset.Type) => Effect.map(assets.patch(id, change), shown),

      /** Takes the bytes, then makes them the asset's: nothing is held while they come. */
      upload: <E>(id: string, bytes: Stream.Stream<Uint8Array, E>, size: number | undefined) =>
        Effect.gen(function* () {
          yield* Effect.flatMap(assets.get(id), mayUpload)
          const uploaded = yield* blobs.upload(bytes, size)
          if (uploaded.sizeBytes === 0) {
            yield* blobs.discard(uploaded)
            return yield* Effect.fail(breaks("body", "required", "is empty; send the bytes of the image"))
          }
          const { isKept, value } = yield* Effect.onError(take(id, uploaded), () =>
            Effect.ignoreLogged(blobs.discard(uploaded))
          )
          if (!isKept) yield* blobs.discard(uploaded)
          return shown(value)
        }),

      /** Verifies what was uploaded. That it is refused is a result like any other: the asset has FAILED. */
      complete,

      /** Deletes assets that were declared long ago and never got ready; tells how many. */
      sweep: (most: number) =>
        Effect.orDie(sql<{ tenant: TenantId; id: string }>`
          select tenant_id as tenant, id from assets
          where status <> 'READY' and updated_at < now() - interval '1 day' limit ${most}`).pipe(
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
      /** The image behind an address, for anyone who may see it. */
      served: Effect.fnUntraced(function* (id: string, isSigned: boolean) {
        const [row] = yield* Effect.orDie(sql<Image>`
          select tenant_id as tenant, digest, access, content_type as "contentType", size_bytes as "sizeBytes", etag
          from assets join tenants on tenants.id = tenant_id and tenants.deleted_at is null
          where assets.id = ${id} and status = 'READY'`)
        if (row === undefined || (row.access !== "PUBLIC" && !isSigned)) return yield* Effect.fail(new NotFound())
        return { ...row, bytes: blobs.read(row.tenant, row.digest) }
      })
    }
  })
}) {}
