import * as SqlClient from "@effect/sql/SqlClient"
import { Effect } from "effect"
import { type AttachMedia, inMediaOrder, type MediaItem, mediaItem } from "../../domain/branding/Media.ts"
import { breaks, NotFound, type WireError } from "../../domain/Errors.ts"
import { requireQuota } from "../../domain/Quotas.ts"
import { CurrentTenant, type IfMatch } from "../../domain/tenancy/Caller.ts"
import { atomically } from "../postgres/connection/Transaction.ts"
import { makeId } from "../postgres/Ids.ts"
import type { Versioned } from "../postgres/repository/ResourceSpec.ts"
import { Quotas } from "../quotas/Quotas.ts"

/** A tenant or a client, as far as it can have something hung on it. */
interface Owner<A> {
  readonly hold: (id: string) => Effect.Effect<Versioned<A>, WireError, CurrentTenant | IfMatch>
  readonly rewrite: (seen: Versioned<A>, action: "updated", next: A) => Effect.Effect<A, WireError, CurrentTenant>
}

interface Hung {
  readonly media: ReadonlyArray<MediaItem>
}

interface Place {
  readonly id: string
  readonly client: string | undefined
  readonly slot: string
}

/** Images hung on tenants and clients, each in a slot. */
export class Attachments extends Effect.Service<Attachments>()("layers/Attachments", {
  dependencies: [Quotas.Default],
  effect: Effect.gen(function* () {
    const sql = yield* SqlClient.SqlClient
    const maxSlots = (yield* Quotas).maxOf("mediaSlots")

    /** The asset, kept from being deleted meanwhile. */
    const keptAsset = (assetId: string) =>
      Effect.flatMap(CurrentTenant, (tenant) =>
        Effect.orDie(sql<Pick<MediaItem, "kind" | "status">>`
          select kind, status from assets where tenant_id = ${tenant} and id = ${assetId} for key share`)
      ).pipe(Effect.map(([asset]) => asset))

    const ready = (asset: Pick<MediaItem, "kind" | "status"> | undefined) => {
      if (asset === undefined) return Effect.fail(breaks("assetId", "exists", "names nothing in this tenant"))
      return asset.status === "READY"
        ? Effect.succeed(asset)
        : Effect.fail(breaks("assetId", "state", `is ${asset.status}; only a READY asset can be attached`))
    }

    const hang = (client: string | undefined, slot: string, assetId: string) =>
      Effect.gen(function* () {
        const tenant = yield* CurrentTenant
        const [row] = yield* sql<{ id: string }>`
          insert into attachments (tenant_id, id, client_id, slot, asset_id)
          values (${tenant}, ${makeId("att")}, ${client ?? null}, ${slot}, ${assetId})
          on conflict (tenant_id, client_id, slot) do update set asset_id = excluded.asset_id
          returning id`
        return row?.id ?? ""
      }).pipe(Effect.orDie)

    const take = (client: string | undefined, slot: string) =>
      Effect.flatMap(CurrentTenant, (tenant) =>
        Effect.orDie(sql<object>`
          delete from attachments where tenant_id = ${tenant} and slot = ${slot}
            and client_id is not distinct from ${client ?? null} returning 1`)
      )

    const without = (media: ReadonlyArray<MediaItem>, slot: string) => media.filter((item) => item.slot !== slot)

    return {
      /** Hangs an image into a slot, in place of any other there. */
      attach: <A extends Hung>(owner: Owner<A>, place: Place, { assetId, order = 0 }: typeof AttachMedia.Type) =>
        Effect.gen(function* () {
          // The asset before its owner: who deletes it has it, and then needs the tenant for the event.
          const asset = yield* keptAsset(assetId)
          const seen = yield* owner.hold(place.id)
          const { kind } = yield* ready(asset)
          const others = without(seen.value.media, place.slot)
          const adding = others.length === seen.value.media.length ? 1 : 0
          yield* requireQuota("mediaSlots", { max: maxSlots, used: others.length, adding, field: "slot" })
          const attachmentId = yield* hang(place.client, place.slot, assetId)
          const item = mediaItem({ attachmentId, slot: place.slot, order, assetId, kind })
          const media = inMediaOrder([...others, item])
          return yield* owner.rewrite(seen, "updated", { ...seen.value, media })
        }).pipe(atomically(sql)),

      /** Takes down what hangs in a slot. */
      detach: <A extends Hung>(owner: Owner<A>, place: Place) =>
        Effect.gen(function* () {
          const seen = yield* owner.hold(place.id)
          if ((yield* take(place.client, place.slot)).length === 0) return yield* Effect.fail(new NotFound())
          yield* owner.rewrite(seen, "updated", { ...seen.value, media: without(seen.value.media, place.slot) })
        }).pipe(atomically(sql))
    }
  })
}) {}
