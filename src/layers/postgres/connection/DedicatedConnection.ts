import { SqlError } from "@effect/sql/SqlError"
import { Effect } from "effect"
import pg from "pg"
import { connectionOptions } from "./Pool.ts"

const tryDriver = <A>(message: string, call: () => Promise<A>) =>
  Effect.tryPromise({ try: call, catch: (cause) => new SqlError({ cause, message }) })

/** A connection outside of the pool until the scope closes, for statements that exceed the timeouts of the pool. */
export const openDedicatedConnection = (overrides: pg.ClientConfig = {}) =>
  Effect.gen(function* () {
    const options = yield* connectionOptions
    const client = yield* Effect.acquireRelease(
      Effect.sync(() => new pg.Client({ ...options, ...overrides })),
      // If the connection is lost, the server ends the transaction and releases its locks.
      (client) => Effect.promise(() => client.end().catch(() => {}))
    )
    client.on("error", () => {})
    yield* tryDriver("Failed to connect", () => client.connect())
    return (text: string, values?: ReadonlyArray<unknown>) =>
      tryDriver("Failed to execute statement", async (): Promise<ReadonlyArray<Record<string, unknown>>> => {
        const { rows } = await client.query(text, values === undefined ? undefined : [...values])
        return rows ?? []
      })
  })
