import * as SqlClient from "@effect/sql/SqlClient"
import { Effect } from "effect"
import {
  type AttachMedia,
  type MediaItem,
  requireAttachable,
  sortMedia,
  toMediaItem
} from "../../domain/branding/Media.ts"
import { type ApiError, NotFound } from "../../domain/Errors.ts"
import { requireQuota } from "../../domain/quotas/Quotas.ts"
import { CurrentTenant, type IfMatch } from "../../domain/tenancy/RequestContext.ts"
import { inTransaction } from "../infra/postgres/connection/Transactions.ts"
import { makeId } from "../infra/postgres/IdGenerator.ts"
import type { Versioned } from "../infra/postgres/repository/ResourceSpec.ts"
import { withSpans } from "../infra/telemetry/UseCaseSpans.ts"
import { Quotas } from "../quotas/Quotas.ts"

/** The operations of a tenant or client that an attachment needs. */
interface Owner<A> {
  readonly lockForWrite: (id: string) => Effect.Effect<Versioned<A>, ApiError, CurrentTenant | IfMatch>
  readonly updateLocked: (
    current: Versioned<A>,
    action: "updated",
    next: A
  ) => Effect.Effect<A, ApiError, CurrentTenant>
}

interface HasMedia {
  readonly media: ReadonlyArray<MediaItem>
}

interface SlotRef {
  readonly id: string
  readonly client: string | undefined
  readonly slot: string
}

/** Attaches images to the slots of tenants and clients. */
export class Attachments extends Effect.Service<Attachments>()("layers/Attachments", {
  dependencies: [Quotas.Default],
  effect: Effect.gen(function* () {
    const sql = yield* SqlClient.SqlClient
    const maxSlots = (yield* Quotas).maxOf("mediaSlots")

    /** Locks the asset against deletion until the transaction ends. */
    const lockAsset = (assetId: string) =>
      Effect.flatMap(CurrentTenant, (tenant) =>
        Effect.orDie(sql<Pick<MediaItem, "kind" | "status">>`
          select kind, status from assets where tenant_id = ${tenant} and id = ${assetId} for key share`)
      ).pipe(Effect.map(([asset]) => asset))

    const upsertAttachment = (client: string | undefined, slot: string, assetId: string) =>
      Effect.gen(function* () {
        const tenant = yield* CurrentTenant
        const [row] = yield* sql<{ id: string }>`
          insert into attachments (tenant_id, id, client_id, slot, asset_id)
          values (${tenant}, ${makeId("att")}, ${client ?? null}, ${slot}, ${assetId})
          on conflict (tenant_id, client_id, slot) do update set asset_id = excluded.asset_id
          returning id`
        return row?.id ?? ""
      }).pipe(Effect.orDie)

    const deleteAttachment = (client: string | undefined, slot: string) =>
      Effect.flatMap(CurrentTenant, (tenant) =>
        Effect.orDie(sql<object>`
          delete from attachments where tenant_id = ${tenant} and slot = ${slot}
            and client_id is not distinct from ${client ?? null} returning 1`)
      )

    const withoutSlot = (media: ReadonlyArray<MediaItem>, slot: string) => media.filter((item) => item.slot !== slot)

    return {
      /** Attaches an image to a slot and replaces the previous one. */
      attach: <A extends HasMedia>(owner: Owner<A>, slot: SlotRef, { assetId, order = 0 }: typeof AttachMedia.Type) =>
        Effect.gen(function* () {
          // Locks the asset before its owner. A deletion of the asset uses the same order: asset, then tenant for its
          // event.
          const asset = yield* lockAsset(assetId)
          const current = yield* owner.lockForWrite(slot.id)
          const { kind } = yield* requireAttachable(asset)
          const others = withoutSlot(current.value.media, slot.slot)
          const adding = others.length === current.value.media.length ? 1 : 0
          yield* requireQuota("mediaSlots", { max: maxSlots, used: others.length, adding, field: "slot" })
          const attachmentId = yield* upsertAttachment(slot.client, slot.slot, assetId)
          const item = toMediaItem({ attachmentId, slot: slot.slot, order, assetId, kind })
          const media = sortMedia([...others, item])
          return yield* owner.updateLocked(current, "updated", { ...current.value, media })
        }).pipe(inTransaction(sql)),

      /** Detaches the image of a slot. */
      detach: <A extends HasMedia>(owner: Owner<A>, slot: SlotRef) =>
        Effect.gen(function* () {
          const current = yield* owner.lockForWrite(slot.id)
          if ((yield* deleteAttachment(slot.client, slot.slot)).length === 0) return yield* Effect.fail(new NotFound())
          yield* owner.updateLocked(current, "updated", {
            ...current.value,
            media: withoutSlot(current.value.media, slot.slot)
          })
        }).pipe(inTransaction(sql))
    }
  }).pipe(withSpans("Attachments"))
}) {}
