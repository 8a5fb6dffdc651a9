import { Duration, Effect, Redacted } from "effect"
import pg from "pg"
import { Settings, SettingsError } from "../../config/Settings.ts"
import { planning } from "./Planning.ts"
import { toIso } from "./Timestamps.ts"

/** Rows arrive in the form the domain speaks: timestamps as ISO text, integers and decimals as numbers. */
const parsers = new Map<number, (text: string) => unknown>([
  [pg.types.builtins.TIMESTAMPTZ, toIso],
  [pg.types.builtins.INT8, Number],
  [pg.types.builtins.NUMERIC, Number]
])

/** The driver asks for every column of every result, and looks its own ones up in a slower way. */
const parserOf = (oid: number) => {
  const known = parsers.get(oid)
  if (known !== undefined) return known
  const usual = pg.types.getTypeParser(oid, "text")
  parsers.set(oid, usual)
  return usual
}

const types: pg.CustomTypesConfig = {
  getTypeParser: (oid: number, format?: "text" | "binary") =>
    format === "binary" ? pg.types.getTypeParser(oid, "binary") : parserOf(oid)
}

/** No statement, lock or forgotten transaction may hold a connection for long, nor a request wait long for one. */
const limits = {
  connectionTimeoutMillis: Duration.toMillis("5 seconds"),
  statement_timeout: Duration.toMillis("15 seconds"),
  lock_timeout: Duration.toMillis("2 seconds"),
  idle_in_transaction_session_timeout: Duration.toMillis("20 seconds")
}

/** How every connection is opened, those of the pool and others. */
export const connectionOptions = Effect.gen(function* () {
  const { DATABASE_URL } = yield* Settings
  if (DATABASE_URL === undefined) {
    return yield* new SettingsError({
      faults: ["DATABASE_URL is needed by this process (npm start brings a database of its own)"]
    })
  }
  return {
    connectionString: Redacted.value(DATABASE_URL),
    application_name: "contracting",
    options: `-c timezone=UTC ${planning}`,
    types,
    // A network that forgets idle connections would otherwise let the next statement wait for its timeout.
    keepAlive: true,
    keepAliveInitialDelayMillis: Duration.toMillis("30 seconds"),
    ...limits
  } satisfies pg.ClientConfig
})

/** Sooner or later every connection leads to where the address of the database points now. */
const maxLifetimeSeconds = Duration.toSeconds("30 minutes")

export const makePool = Effect.fnUntraced(function* (maxConnections: number) {
  const pool = new pg.Pool({
    ...(yield* connectionOptions),
    max: maxConnections,
    idleTimeoutMillis: 0,
    maxLifetimeSeconds
  })
  // A connection that breaks is dropped when it is next looked at; without listeners the event would end the process.
  pool.on("error", () => {})
  pool.on("connect", (client) => client.on("error", () => {}))
  yield* Effect.addFinalizer(() =>
    Effect.promise(() => pool.end()).pipe(Effect.disconnect, Effect.timeoutOption("5 seconds"))
  )
  return pool
})
