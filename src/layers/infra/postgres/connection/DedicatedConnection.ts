import { SqlError } from "@effect/sql/SqlError"
import { Effect } from "effect"
import pg from "pg"
import { connectionOptions, primaryServer } from "./Pool.ts"
import { type SessionSettings, sessionSettings, setSession } from "./SessionSettings.ts"

const tryDriver = <A>(message: string, call: () => Promise<A>) =>
  Effect.tryPromise({ try: call, catch: (cause) => new SqlError({ cause, message }) })

/**
 * A connection outside of the pool until the scope closes, for statements that exceed the timeouts of the pool or keep a
 * session.
 */
export const openDedicatedConnection = (overrides: Partial<SessionSettings> = {}) =>
  Effect.gen(function* () {
    const primary = yield* primaryServer("direct")
    const client = yield* Effect.acquireRelease(
      Effect.sync(() => new pg.Client({ ...connectionOptions, connectionString: primary.url() })),
      // If the connection is lost, the server ends the transaction and releases its locks.
      (client) => Effect.promise(() => client.end().catch(() => {}))
    )
    client.on("error", () => {})
    yield* tryDriver("Failed to connect", async () => {
      await client.connect()
      await client.query(setSession({ ...sessionSettings, ...overrides }))
    })
    return (text: string, values?: ReadonlyArray<unknown>) =>
      tryDriver("Failed to execute statement", async (): Promise<ReadonlyArray<Record<string, unknown>>> => {
        const { rows } = await client.query(text, values === undefined ? undefined : [...values])
        return rows ?? []
      })
  })
