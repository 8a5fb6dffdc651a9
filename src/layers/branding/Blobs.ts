import { createHash } from "node:crypto"
import * as SqlClient from "@effect/sql/SqlClient"
import { Data, Effect, Option, Stream } from "effect"
import { CurrentTenant } from "../../domain/tenancy/Caller.ts"
import { BlobStore } from "../blobs/BlobStore.ts"
import { makeId } from "../postgres/Ids.ts"
import { Quotas } from "../quotas/Quotas.ts"

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
  dependencies: [Quotas.Default],
  effect: Effect.gen(function* () {
    const sql = yield* SqlClient.SqlClient
    const store = yield* BlobStore
    const { lockBytes } = yield* Quotas

    /** Takes away what lies at a place, unless it has become a blob: that may have happened without our hearing of it. */
    const forget = Effect.fnUntraced(function* (tenant: string, place: string) {
      const upload = sql`uploads where tenant_id = ${tenant} and place = ${place}`
      const noted = yield* Effect.orDie(sql<object>`select 1 from ${upload} for update`)
      if (noted.length === 0) return
      yield* store.remove({ tenant, place })
      yield* Effect.orDie(sql`delete from ${upload}`)
    })

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
          const place = makeId("upl")
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

      /**
       * Makes an upload a blob; tells whether it is one now, or whether the same bytes were there already. Those are held,
       * so that nobody lets go of them before they are needed again. It belongs inside of `Quotas.limitBytes`.
       */
      adopt: ({ digest, place, sizeBytes }: Uploaded, kind: "image" | "document") =>
        Effect.flatMap(CurrentTenant, (tenant) =>
          Effect.orDie(sql<{ adopted: boolean }>`
            with made as (
              insert into blobs (tenant_id, digest, place, size_bytes, is_image)
              values (${tenant}, ${digest}, ${place}, ${sizeBytes}, ${kind === "image"})
              on conflict (tenant_id, digest) do update set digest = excluded.digest returning place
            ), noted as (
              delete from uploads where tenant_id = ${tenant} and place = ${place} and place = (select place from made)
            )
            select place = ${place} as adopted from made`)
        ).pipe(Effect.map(([row]) => row?.adopted === true)),

      /**
       * Lets go of bytes that nobody needs any more; they become an upload again, which the upkeep takes away. Holding
       * the row first makes sure that who needs it since is seen.
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
                returning place
              ) insert into uploads (tenant_id, place, started_at) select ${tenant}, place, '-infinity' from freed`)
          )
        ).pipe(Effect.orDie),

      /** The bytes, as they were put there: the last of them come only if all were the same. */
      read: (tenant: string, digest: string) =>
        Stream.unwrap(
          Effect.map(placeOf(tenant, digest), ({ place }) => {
            const hash = createHash("sha256")
            const pieces = Stream.tap(store.read({ tenant, place }), (piece) => Effect.sync(() => hash.update(piece)))
            const proof = Effect.suspend(() =>
              hash.digest("base64url") === digest ? Effect.succeedNone : Effect.die(new BlobDamaged({ digest }))
            )
            return Stream.map(pieces, Option.some).pipe(
              Stream.concat(Stream.fromEffect(proof)),
              Stream.mapAccum(Option.none<Uint8Array>(), (held, next) => [next, held]),
              Stream.filterMap((piece) => piece)
            )
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
