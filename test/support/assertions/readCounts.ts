import * as SqlClient from "@effect/sql/SqlClient"
import { Effect } from "effect"
import type { DeliveryDatabase } from "../servers/deliveryDatabase.ts"

/** Look-ups and rows that the only connection of a ledger has read so far, in all tables together. */
export const countReads = async ({ runIn, sql }: Pick<DeliveryDatabase, "runIn" | "sql">) => {
  await runIn(Effect.flatMap(SqlClient.SqlClient, (sql) => sql`select pg_stat_force_next_flush()`))
  // What was planted is counted now rather than at the end of what is measured.
  await sql.query("select pg_stat_force_next_flush()")
  const { rows } = await sql.query<{ count: number }>(
    `select sum(seq_tup_read + coalesce(idx_scan, 0) + coalesce(idx_tup_fetch, 0))::int as count from pg_stat_user_tables`
  )
  return rows[0]?.count ?? 0
}
