import { setTimeout as pause } from "node:timers/promises"
import type pg from "pg"
import { eventually } from "../../support/servers/worker.ts"
import { logProgress } from "./progress.ts"

const timeoutSeconds = 240

const retryNow =
  "update deliveries set next_attempt_at = now() where status = 'PENDING' and lease is null and next_attempt_at > now()"

const countBacklog = `
  select (select count(*) from outbox)::int as outbox,
    (select count(*) from event_feed where not fanned_out)::int as "fanOut",
    (select count(*) from deliveries where status in ('WAITING', 'PENDING'))::int as deliveries`

/** Waits until the backlog is empty, and makes failed deliveries due at once. */
export const drain = async (pool: pg.Pool) => {
  let last = ""
  const isEmpty = async () => {
    await pool.query(retryNow)
    const { deliveries, fanOut, outbox } = (await pool.query(countBacklog)).rows[0]
    const backlog = `backlog: ${outbox} in the outbox, ${fanOut} to fan out, ${deliveries} deliveries`
    if (backlog !== last) logProgress(backlog)
    last = backlog
    if (outbox + fanOut + deliveries === 0) return true
    // Counting is expensive, so poll less often than `eventually` does.
    await pause(200)
    return false
  }
  await eventually(isEmpty, "the backlog is empty", timeoutSeconds).catch((cause) => {
    throw new Error(`${cause}; ${last}`)
  })
}
