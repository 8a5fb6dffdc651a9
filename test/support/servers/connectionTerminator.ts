import { setTimeout as pause } from "node:timers/promises"
import type pg from "pg"

/** One connection of the service that is in the middle of a transaction, which is thereby undone. */
const terminateOne = `
  select pg_terminate_backend(pid) from pg_stat_activity
  where datname = current_database() and application_name = 'contracting' and xact_start is not null
  order by random() limit 1`

/**
 * Ends connections of the service in the middle of their work, until it is told to stop and tells how many. On a busy
 * machine hardly any work would ever be done without a limit to them.
 */
export const terminateRandomConnections = (pool: pg.Pool, most: number) => {
  let goesOn = true
  const work = async () => {
    let terminated = 0
    while (goesOn && terminated < most) {
      terminated += (await pool.query(terminateOne)).rowCount ?? 0
      await pause(20 + Math.random() * 40)
    }
    return terminated
  }
  const done = work()
  return () => {
    goesOn = false
    return done
  }
}
