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

const countWaiting = async (pool: pg.Pool) => {
  const { rows } = await pool.query<{ count: number }>(
    `select count(*)::int as count from pg_stat_activity
     where datname = current_database() and wait_event = 'PgSleep'`
  )
  return rows[0]?.count ?? 0
}

export interface Gate {
  readonly close: () => Promise<void>
  readonly open: () => Promise<void>
  /** How many statements wait. */
  readonly waiting: () => Promise<number>
  /** Until so many wait. */
  readonly until: (count: number) => Promise<unknown>
}

const watched = (pool: pg.Pool) => ({
  waiting: () => countWaiting(pool),
  until: (count: number) =>
    vi.waitUntil(async () => (await countWaiting(pool)) === count, { timeout: 10_000, interval: 10 })
})

/**
 * Holds every statement that updates a table, or does what else is said, while it is closed. Unlike a lock it may stay
 * closed for longer than a lock timeout.
 */
export const makeGate = async (pool: pg.Pool, table: string, event: "update" | "insert" = "update"): Promise<Gate> => {
  await pool.query(schema)
  await pool.query(`create trigger gate before ${event} on ${table} for each statement execute function wait_at_gate()`)
  const set = async (isClosed: boolean) => void (await pool.query("update gate set is_closed = $1", [isClosed]))
  return { close: () => set(true), open: () => set(false), ...watched(pool) }
}

/** Being closed is a lock of the one who closed it: readers that see nothing new see whether it is held. */
const passing = `
  create or replace function pass_gate(name text) returns boolean stable language plpgsql as $$
  begin
    while not pg_try_advisory_xact_lock_shared(hashtext(name)) loop perform pg_sleep(0.01); end loop;
    return true;
  end $$`

/** The same for every statement that begins to read a table, whatever it looks for there. */
export const makeReadGate = async (pool: pg.Pool, table: string): Promise<Gate> => {
  let closing: pg.PoolClient | undefined
  await pool.query(passing)
  await pool.query(
    `alter table ${table} rename to gated_${table};
     create view ${table} as select * from gated_${table} where pass_gate('${table}')`
  )
  return {
    close: async () => {
      closing = await pool.connect()
      await closing.query("select pg_advisory_lock(hashtext($1))", [table])
    },
    open: async () => {
      await closing?.query("select pg_advisory_unlock(hashtext($1))", [table])
      closing?.release()
      closing = undefined
    },
    ...watched(pool)
  }
}
