import type pg from "pg"

/** Tells the planner that random reads cost hardly more than sequential ones, as on SSDs. */
export const plannerOptions = "-c random_page_cost=1.1"

const maxPlanAgeMillis = 5000

const plannedAt = new WeakMap<pg.ClientBase, number>()

/**
 * A prepared statement keeps its plan until PostgreSQL analyzes one of its tables. So do foreign key checks. Queue
 * tables grow from empty to thousands of rows before that, and a sequential scan that suited an empty table is then far too
 * slow. A new plan sees the current table sizes.
 */
export const refreshPlans = (client: pg.ClientBase) => {
  const now = performance.now()
  const last = plannedAt.get(client) ?? now
  if (last === now || now - last > maxPlanAgeMillis) plannedAt.set(client, now)
  // The driver sends this before the next statement, which reports a broken connection.
  if (now - last > maxPlanAgeMillis) client.query("discard plans", () => {})
}
