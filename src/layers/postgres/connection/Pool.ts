import { Duration, Effect, Redacted } from "effect"
import pg from "pg"
import { Settings, SettingsError } from "../../config/Settings.ts"
import { typeParsers } from "./Values.ts"

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

/** Bounds how long a statement, a lock or an idle transaction occupies a connection, and how long a request waits for one. */
const timeouts = {
  connectionTimeoutMillis: Duration.toMillis("5 seconds"),
  statement_timeout: Duration.toMillis("15 seconds"),
  lock_timeout: Duration.toMillis("2 seconds"),
  idle_in_transaction_session_timeout: Duration.toMillis("20 seconds")
}

/** The options of every connection, inside and outside of the pool. */
export const connectionOptions = Effect.gen(function* () {
  const { DATABASE_URL } = yield* Settings
  if (DATABASE_URL === undefined) {
    return yield* new SettingsError({
      errors: ["DATABASE_URL is required by this process (npm start runs a database of its own)"]
    })
  }
  return {
    connectionString: Redacted.value(DATABASE_URL),
    application_name: "contracting",
    options: `-c timezone=UTC ${plannerOptions}`,
    types: typeParsers,
    // A firewall may drop idle connections silently; the next statement would then run into its timeout.
    keepAlive: true,
    keepAliveInitialDelayMillis: Duration.toMillis("30 seconds"),
    ...timeouts
  } satisfies pg.ClientConfig
})

/** Client-side timeout, for a server that is unreachable and cannot enforce its own timeouts. */
const queryTimeoutMs = Duration.toMillis("17 seconds")

/** Reconnecting follows a changed DNS record of the database. */
const maxLifetimeSeconds = Duration.toSeconds("30 minutes")

export const makePool = Effect.fnUntraced(function* (maxConnections: number) {
  const pool = new pg.Pool({
    ...(yield* connectionOptions),
    query_timeout: queryTimeoutMs,
    max: maxConnections,
    idleTimeoutMillis: 0,
    maxLifetimeSeconds
  })
  // The pool drops a broken connection at its next use. Without listeners, the error event would end the process.
  pool.on("error", () => {})
  pool.on("connect", (client) => client.on("error", () => {}))
  yield* Effect.addFinalizer(() =>
    Effect.promise(() => pool.end()).pipe(Effect.disconnect, Effect.timeoutOption("5 seconds"))
  )
  return pool
})
