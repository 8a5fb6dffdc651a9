import type * as SqlClient from "@effect/sql/SqlClient"
import { SqlError } from "@effect/sql/SqlError"
import { Effect } from "effect"

/** Runs work in a transaction. A failure of the transaction itself is a defect, not an error of the caller. */
export const inTransaction =
  (sql: SqlClient.SqlClient) =>
  <A, E, R>(work: Effect.Effect<A, E, R>): Effect.Effect<A, Exclude<E, SqlError>, R> =>
    Effect.catchAll(
      sql.withTransaction(work),
      (error) => (error instanceof SqlError ? Effect.die(error) : Effect.fail(error as Exclude<E, SqlError>)) // narrowed by the condition
    )

/** Runs reads in one snapshot, unaffected by concurrent writes. */
export const inSnapshot =
  (sql: SqlClient.SqlClient) =>
  <A, E, R>(work: Effect.Effect<A, E, R>) =>
    inTransaction(sql)(Effect.zipRight(sql`set transaction isolation level repeatable read, read only`, work))
