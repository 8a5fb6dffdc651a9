import * as SqlClient from "@effect/sql/SqlClient"
import { Effect } from "effect"
import type { TenantId } from "../../domain/tenancy/Tenant.ts"
import { BlobStore } from "../blobs/BlobStore.ts"
import { Settings } from "../config/Settings.ts"
import { atomically } from "./connection/Transaction.ts"
import { TenantFarewell } from "./integrations/authorization/TenantFarewell.ts"

/** Takes what is left of tenants that were deleted long enough ago out of the database for good. */
export class Erasure extends Effect.Service<Erasure>()("layers/Erasure", {
  dependencies: [TenantFarewell.Default],
  effect: Effect.gen(function* () {
    const farewell = yield* TenantFarewell
    const sql = yield* SqlClient.SqlClient
    const store = yield* BlobStore
    const { TENANT_RETENTION_DAYS } = yield* Settings

    const isOverdue = sql`deleted_at <= now() - make_interval(days => ${TENANT_RETENTION_DAYS})`

    const overdue = sql<{ id: TenantId }>`select id from tenants where ${isOverdue} order by random() limit 1`

    /** Nothing of a tenant can be added while it is held. Another copy may hold it already, or have erased it. */
    const hold = (tenant: string) => sql`
      select 1 from tenants where id = ${tenant} and ${isOverdue} for update skip locked`

    /** Every table that holds something of a tenant, as the catalogue knows them, those that refer to others first. */
    const tables = sql<{ name: string }>`
      with recursive owned as (
        select c.oid, c.relname as name from pg_class c
        join pg_attribute a on a.attrelid = c.oid and a.attname = 'tenant_id' and not a.attisdropped
        where c.relnamespace = current_schema()::regnamespace and c.relkind in ('r', 'p')
      ), referring as (
        select oid, 0 as depth from owned
        union
        select r.conrelid, referring.depth + 1 from referring
        join pg_constraint r on r.confrelid = referring.oid and r.contype = 'f' and r.conrelid <> r.confrelid
        join owned on owned.oid = r.conrelid
      )
      select name from referring join owned using (oid) group by name order by max(depth) desc`

    const placesOf = (tenant: string) =>
      Effect.map(
        sql<{ place: string }>`
          select place from blobs where tenant_id = ${tenant} union select place from uploads where tenant_id = ${tenant}`,
        (rows) => rows.map(({ place }) => place)
      )

    const emptyStore = (tenant: string, places: ReadonlyArray<string>) =>
      Effect.forEach(places, (place) => store.remove({ tenant, place }), { concurrency: 4, discard: true })

    const erase = (tenant: string) =>
      Effect.flatMap(tables, (owned) =>
        Effect.forEach(owned, ({ name }) => sql`delete from ${sql(name)} where tenant_id = ${tenant}`)
      ).pipe(Effect.zipRight(sql`delete from tenants where id = ${tenant}`))

    /** Tells whether it was ours to erase. */
    const eraseHeld = Effect.fnUntraced(function* (tenant: string, gone: ReadonlySet<string>) {
      if ((yield* hold(tenant)).length === 0) return false
      const places = yield* placesOf(tenant)
      yield* emptyStore(
        tenant,
        places.filter((place) => !gone.has(place))
      )
      yield* erase(tenant)
      return true
    })

    return {
      /**
       * Erases one tenant whose time has come; tells which, or nothing when there is none that no other copy is at.
       * Whom it had let us in with is told first and what the store holds goes next, since nobody knows of either once
       * the rows are gone, and outside of the transaction, which may not take long.
       */
      next: Effect.gen(function* () {
        const [tenant] = yield* overdue
        if (tenant === undefined) return undefined
        yield* farewell.of(tenant.id)
        const places = yield* placesOf(tenant.id)
        yield* emptyStore(tenant.id, places)
        const isErased = yield* atomically(sql)(eraseHeld(tenant.id, new Set(places)))
        return isErased ? tenant.id : undefined
      }).pipe(Effect.orDie)
    }
  })
}) {}
