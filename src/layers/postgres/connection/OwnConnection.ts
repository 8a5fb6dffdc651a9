import { SqlError } from "@effect/sql/SqlError"
import { Effect } from "effect"
import pg from "pg"
import { connectionOptions } from "./Pool.ts"

const asking = <A>(message: string, ask: () => Promise<A>) =>
  Effect.tryPromise({ try: ask, catch: (cause) => new SqlError({ cause, message }) })

/** A connection apart from the pool until the scope closes, for statements that the pool has no time for. */
export const openOwnConnection = (own: pg.ClientConfig = {}) =>
  Effect.gen(function* () {
    const options = yield* connectionOptions
    const client = yield* Effect.acquireRelease(
      Effect.sync(() => new pg.Client({ ...options, ...own })),
      // What is under way on a connection that is lost ends by itself, and its locks with it.
      (client) => Effect.promise(() => client.end().catch(() => {}))
    )
    client.on("error", () => {})
    yield* asking("Failed to connect", () => client.connect())
    return (text: string, values?: ReadonlyArray<unknown>) =>
      asking("Failed to execute statement", async (): Promise<ReadonlyArray<Record<string, unknown>>> => {
        const { rows } = await client.query(text, values === undefined ? undefined : [...values])
        return rows ?? []
      })
  })
