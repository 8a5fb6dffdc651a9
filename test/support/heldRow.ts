import type pg from "pg"
import { vi } from "vitest"

/** Holds the row that `statement` locks, so that requests pile up behind it and go on together. */
export const holdRow = async (pool: pg.Pool, statement: string, ...values: ReadonlyArray<string>) => {
  const client = await pool.connect()
  await client.query("begin")
  await client.query(statement, [...values])
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
