import { setTimeout as pause } from "node:timers/promises"
import type pg from "pg"

/** Terminates one connection of the service inside a transaction, which rolls back. */
const terminateOne = `
  select pg_terminate_backend(pid) from pg_stat_activity
  where datname = current_database() and application_name = 'contracting' and xact_start is not null
  order by random() limit 1`

/**
 * Terminates random connections until it is stopped, at most `max`: on a busy machine no work would finish otherwise.
 * The returned function stops it and returns their number.
 */
export const terminateRandomConnections = (pool: pg.Pool, max: number) => {
  let isRunning = true
  const work = async () => {
    let terminated = 0
    while (isRunning && terminated < max) {
      terminated += (await pool.query(terminateOne)).rowCount ?? 0
      await pause(20 + Math.random() * 40)
    }
    return terminated
  }
  const done = work()
  return () => {
    isRunning = false
    return done
  }
}
