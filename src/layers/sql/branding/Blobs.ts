import { createHash } from "node:crypto"
import * as SqlClient from "@effect/sql/SqlClient"
import { Data, Effect, Stream } from "effect"
import { CurrentTenant } from "../../../domain/tenancy/Caller.ts"
import { BlobStore } from "../../blobs/BlobStore.ts"
import { newId } from "../../Ids.ts"

/** Bytes that were written but are no blob yet. */
export interface Uploaded {
  readonly place: string
  readonly digest: string
  readonly sizeBytes: number
}

export class BlobDamaged extends Data.TaggedError("BlobDamaged")<{ readonly digest: string }> {
  override get message() {
    return `The bytes kept as ${this.digest} are not those that were put there`
  }
}

/** What the store holds, and under which digest. Equal bytes of a tenant lie there once. */
export class Blobs extends Effect.Service<Blobs>()("layers/Blobs", {
  effect: Effect.gen(function* () {
    const sql = yield* SqlClient.SqlClient
    const store = yield* BlobStore

    const forget = (tenant: string, place: string) =>
      Effect.zipRight(
        store.remove({ tenant, place }),
        Effect.orDie(sql`delete from uploads where tenant_id = ${tenant} and place = ${place}`)
      )

    /** Where the bytes lie. */
    const placeOf = (tenant: string, digest: string) =>
      Effect.orDie(sql<{ place: string }>`
        select place from blobs where tenant_id = ${tenant} and digest = ${digest}`).pipe(
        Effect.flatMap(([blob]) =>
          blob === undefined ? Effect.die(new BlobDamaged({ digest })) : Effect.succeed(blob)
        )
      )

    return {
      /** Writes bytes to a place of their own. The place is noted before the first byte, and forgotten if this fails. */
      upload: <E>(bytes: Stream.Stream<Uint8Array, E>, size: number | undefined) =>
        Effect.gen(function* () {
          const tenant = yield* CurrentTenant
          const place = yield* newId("upl")
          const hash = createHash("sha256")
          let sizeBytes = 0
          const measured = Stream.tap(bytes, (piece) =>
            Effect.sync(() => {
              hash.update(piece)
              sizeBytes += piece.length
            })
          )
          yield* Effect.orDie(sql`insert into uploads (tenant_id, place) values (${tenant}, ${place})`)
          yield* store
            .put({ tenant, place }, measured, size)
            .pipe(Effect.onError(() => Effect.ignoreLogged(forget(tenant, place))))
          return { place, digest: hash.digest("base64url"), sizeBytes } satisfies Uploaded
        }),

      discard: ({ place }: Uploaded) => Effect.flatMap(CurrentTenant, (tenant) => forget(tenant, place)),

      /** Makes an upload a blob; tells whether it is one now, or whether the same bytes were there already. */
      adopt: ({ digest, place, sizeBytes }: Uploaded) =>
        Effect.flatMap(CurrentTenant, (tenant) =>
          Effect.orDie(sql<{ adopted: boolean }>`
            with made as (
              insert into blobs (tenant_id, digest, place, size_bytes)
              values (${tenant}, ${digest}, ${place}, ${sizeBytes}) on conflict do nothing returning place
            ), noted as (
              delete from uploads where tenant_id = ${tenant} and place = (select place from made)
            )
            select exists (select 1 from made) as adopted`)
        ).pipe(Effect.map(([row]) => row?.adopted === true)),

      /**
       * Lets go of bytes that nobody needs any more; they become an upload again, which the upkeep takes away. Holding
       * the row first makes sure that who needs it since is seen.
       */
      release: (digest: string) =>
        Effect.flatMap(CurrentTenant, (tenant) =>
          Effect.zipRight(
            sql`select 1 from blobs where tenant_id = ${tenant} and digest = ${digest} for update`,
            sql`
              with freed as (
                delete from blobs where tenant_id = ${tenant} and digest = ${digest}
                  and not exists (select 1 from assets where tenant_id = ${tenant} and digest = ${digest})
                  and not exists (select 1 from invoice_images where tenant_id = ${tenant} and digest = ${digest})
                returning place
              ) insert into uploads (tenant_id, place, started_at) select ${tenant}, place, '-infinity' from freed`
          )
        ).pipe(Effect.orDie),

      /** The bytes, as they were put there: the end comes only if all of them were the same. */
      read: (tenant: string, digest: string) =>
        Stream.unwrap(
          Effect.map(placeOf(tenant, digest), ({ place }) => {
            const hash = createHash("sha256")
            const bytes = Stream.tap(store.read({ tenant, place }), (piece) => Effect.sync(() => hash.update(piece)))
            const proof = Stream.execute(
              Effect.suspend(() =>
                hash.digest("base64url") === digest ? Effect.void : Effect.die(new BlobDamaged({ digest }))
              )
            )
            return Stream.concat(bytes, proof)
          })
        ),

      /** Takes away what was written and never became a blob, or is one no longer; tells how many. */
      sweep: (most: number) =>
        Effect.orDie(sql<{ tenant: string; place: string }>`
          select tenant_id as tenant, place from uploads where started_at < now() - interval '1 hour'
          order by started_at limit ${most}`).pipe(
          Effect.tap((swept) => Effect.forEach(swept, ({ place, tenant }) => forget(tenant, place))),
          Effect.map((swept) => swept.length)
        )
    }
  })
}) {}
