import * as SqlClient from "@effect/sql/SqlClient"
import { Effect } from "effect"
import type { TenantId } from "../../domain/tenancy/Tenant.ts"
import { BlobStore } from "../blobs/BlobStore.ts"
import { Settings } from "../config/Settings.ts"
import { TenantFarewell } from "../integrations/authorization/TenantFarewell.ts"
import { batchSize, deleteBatch, type EndKey, inBatches, type KeyColumn, whileLocked } from "../postgres/Batches.ts"
import { vacuum } from "../postgres/Vacuum.ts"

interface Table {
  readonly name: string
  readonly key: ReadonlyArray<KeyColumn>
}

/** The tables whose rows say where bytes lie in the store, each with the column that tells its rows apart. */
const stored: Readonly<Record<string, string>> = { blobs: "digest", uploads: "place" }

/** Fewer deleted rows cost those who come across them hardly anything. */
export const maxBatchesUnvacuumed = 25

/** Takes what is left of tenants that were deleted long enough ago out of the database for good. */
export class Erasure extends Effect.Service<Erasure>()("layers/Erasure", {
  dependencies: [TenantFarewell.Default],
  effect: Effect.gen(function* () {
    const farewell = yield* TenantFarewell
    const sql = yield* SqlClient.SqlClient
    const store = yield* BlobStore
    const settings = yield* Settings
    const { TENANT_RETENTION_DAYS } = settings
    const deleteNext = deleteBatch(sql)
    const vacuumed = (table: string) => Effect.provideService(vacuum(table), Settings, settings)

    const isOverdue = sql`deleted_at <= now() - make_interval(days => ${TENANT_RETENTION_DAYS})`

    /** Any of the first: copies hardly meet, and one that cannot be erased keeps no other waiting. */
    const overdue = sql<{ id: TenantId }>`
      select id from (select id from tenants where ${isOverdue} order by deleted_at limit 100) first
      order by random() limit 1`

    /**
     * Nothing that refers to a tenant can be added to it while it is held, and an event is written with a row of which
     * that is true. What was added between two batches is found before the tenant's own row goes.
     */
    const holding = (tenant: string) =>
      whileLocked(sql, sql`select 1 from tenants where id = ${tenant} and ${isOverdue} for update skip locked`)

    /**
     * Every table that holds something of a tenant, as the catalogue knows them, those that refer to others first. The
     * relay takes an event for there that is in the outbox, so the outbox is emptied before all.
     */
    const tables = sql<Table>`
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
      ), sorted as (
        select oid, name, max(depth) as depth from referring join owned using (oid) group by oid, name
      )
      select name, (
        select json_agg(json_build_object('name', a.attname, 'type', format_type(a.atttypid, null)) order by part.place)
        from pg_index i cross join unnest(i.indkey) with ordinality as part (attnum, place)
        join pg_attribute a on a.attrelid = i.indrelid and a.attnum = part.attnum
        where i.indrelid = sorted.oid and i.indisprimary
      ) as key
      from sorted order by name <> 'outbox', depth desc, name`

    const rowsOf = (tenant: string, { key, name }: Table) => ({
      table: name,
      key,
      where: sql`tenant_id = ${tenant}`
    })

    const emptyTable = (tenant: string, table: Table) =>
      Effect.gen(function* () {
        let batches = 0
        yield* inBatches((after: EndKey | undefined) => {
          batches++
          return holding(tenant)(deleteNext(rowsOf(tenant, table), after))
        })
        if (batches > maxBatchesUnvacuumed) yield* vacuumed(table.name)
      })

    /** The bytes go before the rows, without which nobody knows of them, and outside of a transaction. */
    const emptyStored = (tenant: string, table: string, column: string) => {
      const [name, key] = [sql.literal(table), sql.literal(column)]
      return inBatches((after: string | undefined) =>
        Effect.gen(function* () {
          const rows = yield* sql<{ key: string; place: string }>`
            select ${key} as key, place from ${name} where tenant_id = ${tenant} and ${key} > ${after ?? ""}
            order by ${key} limit ${batchSize}`
          yield* Effect.forEach(rows, ({ place }) => store.remove({ tenant, place }), { concurrency: 4, discard: true })
          const gone = JSON.stringify(rows.map((row) => row.key))
          yield* holding(tenant)(sql`
            delete from ${name} where tenant_id = ${tenant} and ${key} in (
              select json_array_elements_text(${gone}::json))`)
          return rows.length < batchSize ? undefined : rows.at(-1)?.key
        })
      )
    }

    /** Whom the tenant had let us in with is told once: who is known here has not been told yet. */
    const leaveProviders = (tenant: TenantId) =>
      Effect.gen(function* () {
        const tokens = sql`
          select 1 from grants where tenant_id = ${tenant} union all
          select 1 from pending_grants where tenant_id = ${tenant} limit 1`
        if ((yield* tokens).length === 0) return
        yield* farewell.of(tenant)
        yield* holding(tenant)(sql`
          with given as (delete from grants where tenant_id = ${tenant})
          delete from pending_grants where tenant_id = ${tenant}`)
      })

    /** Takes the tenant's own row if that is the last there is; tells whether it was. */
    const finish = (tenant: string, all: ReadonlyArray<Table>) => {
      const rest = all.map(({ name }) => sql`exists (select 1 from ${sql(name)} where tenant_id = ${tenant})`)
      return Effect.map(
        holding(tenant)(sql<object>`
          delete from tenants where id = ${tenant} and not (${rest.reduce((some, one) => sql`${some} or ${one}`)})
          returning 1`),
        (rows) => rows.length === 1
      )
    }

    const erase = (tenant: TenantId) =>
      Effect.gen(function* () {
        yield* leaveProviders(tenant)
        const all = yield* tables
        const empty = (table: Table) => {
          const column = stored[table.name]
          return column === undefined ? emptyTable(tenant, table) : emptyStored(tenant, table.name, column)
        }
        // Once more if something was added meanwhile.
        yield* Effect.repeat(Effect.zipRight(Effect.forEach(all, empty), finish(tenant, all)), {
          until: (isLast) => isLast
        })
        return tenant
      })

    return {
      /**
       * Erases one tenant whose time has come; tells which, or nothing when there is none that no other copy is at. It
       * goes in small transactions. Whatever ends it in between, the next begins with what is left.
       */
      next: Effect.flatMap(overdue, ([tenant]) =>
        tenant === undefined ? Effect.succeed(undefined) : erase(tenant.id)
      ).pipe(
        Effect.catchTag("TakenElsewhere", () => Effect.succeed(undefined)),
        Effect.orDie
      )
    }
  })
}) {}
