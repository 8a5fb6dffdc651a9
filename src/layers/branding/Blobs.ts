import { createHash } from "node:crypto"
import * as SqlClient from "@effect/sql/SqlClient"
import { Data, Effect, Option, Stream } from "effect"
import { CurrentTenant } from "../../domain/tenancy/RequestContext.ts"
import { BlobStore } from "../infra/blobs/BlobStore.ts"
import { makeId } from "../infra/postgres/IdGenerator.ts"
import { withSpans } from "../infra/telemetry/UseCaseSpans.ts"
import { Quotas } from "../quotas/Quotas.ts"

/** Bytes in the store that are not a blob yet. */
export interface StagedUpload {
  readonly place: string
  readonly digest: string
  readonly sizeBytes: number
}

export class BlobCorrupted extends Data.TaggedError("BlobCorrupted")<{ readonly digest: string }> {
  override get message() {
    return `Blob ${this.digest} is missing or corrupted`
  }
}

/** Content-addressed blobs, keyed by digest. Equal bytes of a tenant are stored once. */
export class Blobs extends Effect.Service<Blobs>()("layers/Blobs", {
  dependencies: [Quotas.Default],
  effect: Effect.gen(function* () {
    const sql = yield* SqlClient.SqlClient
    const store = yield* BlobStore
    const { lockBytes } = yield* Quotas

    /**
     * Removes uploaded bytes unless they are a blob. When the reply to COMMIT is lost, the caller does not know whether
     * they are.
     */
    const removeUpload = Effect.fnUntraced(function* (tenant: string, place: string) {
      const upload = sql`uploads where tenant_id = ${tenant} and place = ${place}`
      const found = yield* Effect.orDie(sql<object>`select 1 from ${upload} for update`)
      if (found.length === 0) return
      yield* store.remove({ tenant, place })
      yield* Effect.orDie(sql`delete from ${upload}`)
    })

    const findPlace = (tenant: string, digest: string) =>
      Effect.orDie(sql<{ place: string }>`
        select place from blobs where tenant_id = ${tenant} and digest = ${digest}`).pipe(
        Effect.flatMap(([blob]) =>
          blob === undefined ? Effect.die(new BlobCorrupted({ digest })) : Effect.succeed(blob)
        )
      )

    return {
      /**
       * Writes bytes to a new place. Inserts the upload first, so that the cleanup finds the bytes of a crashed upload.
       */
      upload: <E>(bytes: Stream.Stream<Uint8Array, E>, size: number | undefined) =>
        Effect.gen(function* () {
          const tenant = yield* CurrentTenant
          const place = makeId("upl")
          const hash = createHash("sha256")
          let sizeBytes = 0
          const measured = Stream.tap(bytes, (chunk) =>
            Effect.sync(() => {
              hash.update(chunk)
              sizeBytes += chunk.length
            })
          )
          yield* Effect.orDie(sql`insert into uploads (tenant_id, place) values (${tenant}, ${place})`)
          yield* store
            .put({ tenant, place }, measured, size)
            .pipe(Effect.onError(() => Effect.ignoreLogged(removeUpload(tenant, place))))
          return { place, digest: hash.digest("base64url"), sizeBytes } satisfies StagedUpload
        }),

      discard: ({ place }: StagedUpload) => Effect.flatMap(CurrentTenant, (tenant) => removeUpload(tenant, place)),

      /**
       * Promotes an upload to a blob. Returns false when a blob of the same bytes exists. The upsert locks that blob,
       * so that a concurrent `release` cannot delete it. Call this inside `Quotas.limitBytes`.
       */
      promote: ({ digest, place, sizeBytes }: StagedUpload, kind: "image" | "document") =>
        Effect.flatMap(CurrentTenant, (tenant) =>
          Effect.orDie(sql<{ adopted: boolean }>`
            with created as (
              insert into blobs (tenant_id, digest, place, size_bytes, is_image)
              values (${tenant}, ${digest}, ${place}, ${sizeBytes}, ${kind === "image"})
              on conflict (tenant_id, digest) do update set digest = excluded.digest returning place
            ), noted as (
              delete from uploads where tenant_id = ${tenant} and place = ${place} and place = (select place from created)
            )
            select place = ${place} as adopted from created`)
        ).pipe(Effect.map(([row]) => row?.adopted === true)),

      /**
       * Deletes a blob without references. Its bytes become an upload again, which the cleanup removes. The row lock
       * comes first, so that the delete sees the references of concurrent transactions.
       */
      release: (digest: string) =>
        Effect.flatMap(CurrentTenant, (tenant) =>
          lockBytes.pipe(
            Effect.zipRight(sql`select 1 from blobs where tenant_id = ${tenant} and digest = ${digest} for update`),
            Effect.zipRight(sql`
              with freed as (
                delete from blobs where tenant_id = ${tenant} and digest = ${digest}
                  and not exists (select 1 from assets where tenant_id = ${tenant} and digest = ${digest})
                  and not exists (select 1 from invoice_images where tenant_id = ${tenant} and digest = ${digest})
                  and not exists (select 1 from invoice_files where tenant_id = ${tenant} and digest = ${digest})
                  and not exists (select 1 from credit_note_files where tenant_id = ${tenant} and digest = ${digest})
                returning place
              ) insert into uploads (tenant_id, place, started_at) select ${tenant}, place, '-infinity' from freed`)
          )
        ).pipe(Effect.orDie),

      /** Streams the bytes and verifies their digest. Emits the last chunk only when the digest matches. */
      read: (tenant: string, digest: string) =>
        Stream.unwrap(
          Effect.map(findPlace(tenant, digest), ({ place }) => {
            const hash = createHash("sha256")
            const chunks = Stream.tap(store.read({ tenant, place }), (chunk) => Effect.sync(() => hash.update(chunk)))
            const verifyDigest = Effect.suspend(() =>
              hash.digest("base64url") === digest ? Effect.succeedNone : Effect.die(new BlobCorrupted({ digest }))
            )
            return Stream.map(chunks, Option.some).pipe(
              Stream.concat(Stream.fromEffect(verifyDigest)),
              Stream.mapAccum(Option.none<Uint8Array>(), (previous, next) => [next, previous]),
              Stream.filterMap((chunk) => chunk)
            )
          })
        ),

      /** Removes up to `max` uploads that never became a blob or no longer are one. Returns their number. */
      deleteAbandonedUploads: (max: number) =>
        Effect.orDie(sql<{ tenant: string; place: string }>`
          select tenant_id as tenant, place from uploads where started_at < now() - interval '1 hour'
          order by started_at limit ${max}`).pipe(
          Effect.tap((uploads) => Effect.forEach(uploads, ({ place, tenant }) => removeUpload(tenant, place))),
          Effect.map((uploads) => uploads.length)
        )
    }
  }).pipe(withSpans("Blobs"))
}) {}
