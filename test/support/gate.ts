import type pg from "pg"
import { vi } from "vitest"

const schema = `
  create table gate (is_closed boolean not null);
  insert into gate values (false);
  create function wait_at_gate() returns trigger language plpgsql as $$
  begin
    while (select is_closed from gate) loop perform pg_sleep(0.01); end loop;
    return null;
  end $$`

const waiting = `select count(*)::int as count from pg_stat_activity
  where datname = current_database() and wait_event = 'PgSleep'`

/** Holds every statement that updates a table while it is closed. Unlike a lock it may stay closed for longer than a lock timeout. */
export const makeGate = async (pool: pg.Pool, table: string) => {
  await pool.query(schema)
  await pool.query(`create trigger gate before update on ${table} for each statement execute function wait_at_gate()`)
  const set = (isClosed: boolean) => pool.query("update gate set is_closed = $1", [isClosed])
  return {
    close: () => set(true),
    open: () => set(false),
    /** Until so many updates wait. */
    until: (count: number) =>
      vi.waitUntil(async () => (await pool.query<{ count: number }>(waiting)).rows[0]?.count === count, {
        timeout: 10_000,
        interval: 10
      })
  }
}

export type Gate = Awaited<ReturnType<typeof makeGate>>
