import * as SqlClient from "@effect/sql/SqlClient"
import { Effect } from "effect"
import type { DeliveryDatabase } from "../servers/deliveryDatabase.ts"

type SingleConnectionDatabase = Pick<DeliveryDatabase, "runIn" | "sql">

const readCounter = async ({ runIn, sql }: SingleConnectionDatabase, counter: string) => {
  await runIn(Effect.flatMap(SqlClient.SqlClient, (sql) => sql`select pg_stat_force_next_flush()`))
  // What was planted is counted now rather than at the end of what is measured.
  await sql.query("select pg_stat_force_next_flush()")
  const { rows } = await sql.query<{ count: number }>(`select ${counter}::int as count`)
  return rows[0]?.count ?? 0
}

/** Look-ups and rows that the only connection of a ledger has read so far, in all tables together. */
export const countReads = (database: SingleConnectionDatabase) =>
  readCounter(
    database,
    `(select sum(seq_tup_read + coalesce(idx_scan, 0) + coalesce(idx_tup_fetch, 0)) from pg_stat_user_tables)`
  )

/** Pages of tables and indexes that the only connection has read so far: an index can be read without a row of it. */
export const countPages = (database: SingleConnectionDatabase) =>
  readCounter(
    database,
    `(select sum(heap_blks_read + heap_blks_hit + coalesce(idx_blks_read, 0) + coalesce(idx_blks_hit, 0))
      from pg_statio_user_tables)`
  )
