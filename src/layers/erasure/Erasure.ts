import * as SqlClient from "@effect/sql/SqlClient"
import { Effect } from "effect"
import type { TenantId } from "../../domain/tenancy/Tenant.ts"
import { BlobStore } from "../infra/blobs/BlobStore.ts"
import { Settings } from "../infra/config/Settings.ts"
import {
  type BatchCursor,
  batchSize,
  deleteBatch,
  type KeyColumn,
  runInBatches,
  withRowLock
} from "../infra/postgres/Batches.ts"
import { vacuum } from "../infra/postgres/Vacuum.ts"
import { withSpans } from "../infra/telemetry/UseCaseSpans.ts"
import { TenantOffboarding } from "./TenantOffboarding.ts"

interface Table {
  readonly name: string
  readonly key: ReadonlyArray<KeyColumn>
}

/** Tables whose rows point into the blob store, each with the column that identifies a row within its tenant. */
const blobKeyColumns: Readonly<Record<string, string>> = { blobs: "digest", uploads: "place" }

/** A table is vacuumed after more batches than this. Fewer dead rows hardly slow index scans down. */
export const maxBatchesUnvacuumed = 25

/** Hard-deletes the data of tenants whose retention period after deletion is over. */
export class Erasure extends Effect.Service<Erasure>()("layers/Erasure", {
  dependencies: [TenantOffboarding.Default],
  effect: Effect.gen(function* () {
    const offboarding = yield* TenantOffboarding
    const sql = yield* SqlClient.SqlClient
    const store = yield* BlobStore
    const settings = yield* Settings
    const { TENANT_RETENTION_DAYS } = settings
    const deleteNext = deleteBatch(sql)
    const vacuumTable = (table: string) => Effect.provideService(vacuum(table), Settings, settings)

    const isOverdue = sql`deleted_at <= now() - make_interval(days => ${TENANT_RETENTION_DAYS})`

    /** A random one of the oldest: copies of the janitor rarely collide, and a tenant that fails does not block the others. */
    const pickOverdueTenant = sql<{ id: TenantId }>`
      select id from (select id from tenants where ${isOverdue} order by deleted_at limit 100) first
      order by random() limit 1`

    /**
     * While the tenant's row is locked, foreign keys block inserts that refer to it. Events have no such key, but are
     * written with a row that has one. Rows added between two batches are found before the tenant's own row is deleted.
     */
    const withTenantLock = (tenant: string) =>
      withRowLock(sql, sql`select 1 from tenants where id = ${tenant} and ${isOverdue} for update skip locked`)

    /**
     * Every table with a `tenant_id`, from the system catalogue, referencing tables before referenced ones. The outbox
     * comes first: the relay expects the event of every row in it to exist.
     */
    const tenantTables = sql<Table>`
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
        yield* runInBatches((after: BatchCursor | undefined) => {
          batches++
          return withTenantLock(tenant)(deleteNext(rowsOf(tenant, table), after))
        })
        if (batches > maxBatchesUnvacuumed) yield* vacuumTable(table.name)
      })

    /** Deletes blobs before their rows, which are the only pointers to them, and outside of a transaction. */
    const emptyBlobTable = (tenant: string, table: string, column: string) => {
      const [name, key] = [sql.literal(table), sql.literal(column)]
      return runInBatches((after: string | undefined) =>
        Effect.gen(function* () {
          const rows = yield* sql<{ key: string; place: string }>`
            select ${key} as key, place from ${name} where tenant_id = ${tenant} and ${key} > ${after ?? ""}
            order by ${key} limit ${batchSize}`
          yield* Effect.forEach(rows, ({ place }) => store.remove({ tenant, place }), { concurrency: 4, discard: true })
          const deletedKeys = JSON.stringify(rows.map((row) => row.key))
          yield* withTenantLock(tenant)(sql`
            delete from ${name} where tenant_id = ${tenant} and ${key} in (
              select json_array_elements_text(${deletedKeys}::json))`)
          return rows.length < batchSize ? undefined : rows.at(-1)?.key
        })
      )
    }

    /** Revokes the tenant's grants at the providers, once: a grant that still has a row is not revoked yet. */
    const offboardFromProviders = (tenant: TenantId) =>
      Effect.gen(function* () {
        const tokens = sql`
          select 1 from grants where tenant_id = ${tenant} union all
          select 1 from pending_grants where tenant_id = ${tenant} limit 1`
        if ((yield* tokens).length === 0) return
        yield* offboarding.disconnectProviders(tenant)
        yield* withTenantLock(tenant)(sql`
          with given as (delete from grants where tenant_id = ${tenant})
          delete from pending_grants where tenant_id = ${tenant}`)
      })

    /** Deletes the tenant's own row if no other row of the tenant is left. Returns whether it did. */
    const deleteTenantRow = (tenant: string, all: ReadonlyArray<Table>) => {
      const remaining = all.map(({ name }) => sql`exists (select 1 from ${sql(name)} where tenant_id = ${tenant})`)
      return Effect.map(
        withTenantLock(tenant)(sql<object>`
          delete from tenants where id = ${tenant} and not (${remaining.reduce((some, one) => sql`${some} or ${one}`)})
          returning 1`),
        (rows) => rows.length === 1
      )
    }

    const erase = (tenant: TenantId) =>
      Effect.gen(function* () {
        yield* offboardFromProviders(tenant)
        const all = yield* tenantTables
        const empty = (table: Table) => {
          const column = blobKeyColumns[table.name]
          return column === undefined ? emptyTable(tenant, table) : emptyBlobTable(tenant, table.name, column)
        }
        // Repeated if rows were added meanwhile.
        yield* Effect.repeat(Effect.zipRight(Effect.forEach(all, empty), deleteTenantRow(tenant, all)), {
          until: (isDeleted) => isDeleted
        })
        return tenant
      })

    return {
      /**
       * Erases one overdue tenant. Returns its id, or undefined if there is none or another copy has locked it. It runs in
       * small transactions, so that an interrupted erasure continues with the rows that are left.
       */
      eraseNext: Effect.flatMap(pickOverdueTenant, ([tenant]) =>
        tenant === undefined ? Effect.succeed(undefined) : erase(tenant.id)
      ).pipe(
        Effect.catchTag("RowLockUnavailable", () => Effect.succeed(undefined)),
        Effect.orDie
      )
    }
  }).pipe(withSpans("Erasure"))
}) {}
