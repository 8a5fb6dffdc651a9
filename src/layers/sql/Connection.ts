import type { Connection } from "@effect/sql/SqlConnection"
import { SqlError } from "@effect/sql/SqlError"
import { Effect, Stream } from "effect"
import type pg from "pg"

type Run = <A>(
  query: pg.QueryConfig | pg.QueryArrayConfig,
  read: (result: pg.QueryResult) => A
) => Effect.Effect<A, SqlError>

/** Texts with placeholders are few and constant; beyond this many the server would hoard plans, so the rest go unnamed. */
const mostNames = 500
const names = new Map<string, string>()

const nameOf = (text: string) => {
  const known = names.get(text)
  if (known !== undefined || names.size >= mostNames) return known
  const name = `s${names.size}`
  names.set(text, name)
  return name
}

const failed = (cause: unknown) => new SqlError({ cause, message: "Failed to execute statement" })

/**
 * Statements run to their end even when the fiber that asked is interrupted: cancelling one through another connection
 * may hit whoever was lent the connection next (Effect-TS/effect#8068). The server's own timeouts bound them.
 */
const runOn =
  (target: Pick<pg.Pool, "query">): Run =>
  (query, read) =>
    Effect.uninterruptible(
      Effect.async((resume) => {
        target.query(query, (error: Error | null, result: pg.QueryResult) =>
          resume(error ? Effect.fail(failed(error)) : Effect.succeed(read(result)))
        )
      })
    )

/** What `@effect/sql` needs of a connection, over a pool or one of its clients, with named prepared statements. */
export const connectionOver = (target: Pick<pg.Pool, "query">): Connection => {
  const run = runOn(target)
  const prepared = (text: string, values: ReadonlyArray<unknown>) => {
    const name = nameOf(text)
    return name === undefined ? { text, values: [...values] } : { name, text, values: [...values] }
  }
  return {
    execute: (text, values) => run(prepared(text, values), (result) => result.rows),
    executeRaw: (text, values) => run(prepared(text, values), (result) => result),
    executeValues: (text, values) => run({ text, values: [...values], rowMode: "array" }, (result) => result.rows),
    // Without values the text may hold several statements, as a migration does.
    executeUnprepared: (text, values) =>
      run(values.length === 0 ? { text } : { text, values: [...values] }, (result) => result.rows ?? []),
    executeStream: () => Stream.die("statements are not streamed: page through them instead")
  }
}
