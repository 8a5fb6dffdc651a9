import type pg from "pg"
import { eventually } from "../../support/servers/worker.ts"
import { say } from "./say.ts"

const drainSeconds = 240

/** Waits until nothing is left to do. What failed before is not kept waiting for its time. */
export const drain = async (pool: pg.Pool) => {
  const hurry =
    "update deliveries set next_attempt_at = now() where status = 'PENDING' and lease is null and next_attempt_at > now()"
  const left = `
    select (select count(*) from outbox)::int as placing,
      (select count(*) from event_feed where not fanned_out)::int as "fanningOut",
      (select count(*) from deliveries where status in ('WAITING', 'PENDING'))::int as sending`
  let last = ""
  const isDone = async () => {
    await pool.query(hurry)
    const { fanningOut, placing, sending } = (await pool.query(left)).rows[0]
    const now = `left: ${placing} to place, ${fanningOut} to fan out, ${sending} to send`
    if (now !== last) say(now)
    last = now
    await new Promise((resolve) => setTimeout(resolve, 500))
    return placing + fanningOut + sending === 0
  }
  await eventually(isDone, "the backlog is worked off", drainSeconds).catch((cause) => {
    throw new Error(`${cause}; ${last}`)
  })
}
