import type * as SqlClient from "@effect/sql/SqlClient"
import { SqlError } from "@effect/sql/SqlError"
import { Effect } from "effect"

/** All of it or nothing. That the transaction itself fails is no answer to a caller but a defect. */
export const atomically =
  (sql: SqlClient.SqlClient) =>
  <A, E, R>(work: Effect.Effect<A, E, R>): Effect.Effect<A, Exclude<E, SqlError>, R> =>
    Effect.catchAll(
      sql.withTransaction(work),
      (error) => (error instanceof SqlError ? Effect.die(error) : Effect.fail(error as Exclude<E, SqlError>)) // narrowed beside it
    )

/** Reads everything as of one moment, whatever is written meanwhile. */
export const consistently =
  (sql: SqlClient.SqlClient) =>
  <A, E, R>(work: Effect.Effect<A, E, R>) =>
    atomically(sql)(Effect.zipRight(sql`set transaction isolation level repeatable read, read only`, work))
