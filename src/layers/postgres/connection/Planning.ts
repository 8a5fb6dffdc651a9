import type pg from "pg"

/** A look-up costs hardly more than reading on, on today's disks. */
export const planning = "-c random_page_cost=1.1"

const maxPlanAgeMillis = 5000

const plannedAt = new WeakMap<pg.ClientBase, number>()

/**
 * A prepared statement keeps the plan that suited its tables when it was made, the checks of foreign keys included, until
 * PostgreSQL happens to analyze one of them. Tables of work grow from nothing to thousands of rows before that: reading
 * them all is right at first and ruinous later. A plan that is made anew sees how large they are by then.
 */
export const refreshPlans = (client: pg.ClientBase) => {
  const now = performance.now()
  const last = plannedAt.get(client) ?? now
  if (last === now || now - last > maxPlanAgeMillis) plannedAt.set(client, now)
  // The driver sends it before the next statement, which tells of a connection that is lost.
  if (now - last > maxPlanAgeMillis) client.query("discard plans", () => {})
}
