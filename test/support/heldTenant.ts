import type pg from "pg"
import { vi } from "vitest"

/**
 * Holds a tenant's row as a decision about its members does, so that requests pile up behind it: all of them were let
 * in before any of them is decided.
 */
export const holdTenant = async (pool: pg.Pool, tenant: string) => {
  const client = await pool.connect()
  await client.query("begin")
  await client.query("select 1 from tenants where id = $1 for no key update", [tenant])
  const waiting = async () => {
    const { rows } = await pool.query<{ count: number }>(
      "select count(*)::int from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'"
    )
    return rows[0]?.count ?? 0
  }
  return {
    /** Until so many requests wait. */
    until: (count: number) => vi.waitUntil(async () => (await waiting()) === count, { timeout: 4000, interval: 5 }),
    /** Done in the same transaction, so that it is a fact when the requests go on. */
    meanwhile: (statement: string, ...values: ReadonlyArray<string>) => client.query(statement, [...values]),
    release: async () => {
      await client.query("commit")
      client.release()
    }
  }
}
