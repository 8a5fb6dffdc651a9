import * as SqlClient from "@effect/sql/SqlClient"
import type { Connection } from "@effect/sql/SqlConnection"
import type { SqlError } from "@effect/sql/SqlError"
import { isFragment, type Statement } from "@effect/sql/Statement"
import { Context, Effect, FiberRef, Option } from "effect"
import type { TextRow } from "../resource/JsonRows.ts"

const isStatement = (made: unknown): made is Statement<unknown> => isFragment(made) && "commit" in made

type Way = (connection: Connection, text: string, values: ReadonlyArray<unknown>) => Effect.Effect<unknown, SqlError>

const asRows: Way = (connection, text, values) => connection.execute(text, values, undefined)
const asValues: Way = (connection, text, values) => connection.executeValues(text, values)

/**
 * Every statement of `@effect/sql` opens a span and a scope, which together cost more than the rest of it. While nobody
 * traces, statements go straight to their connection: the transaction's, or else the pool's.
 */
export const untraced =
  (pooled: Connection) =>
  (sql: SqlClient.SqlClient): SqlClient.SqlClient => {
    const unlessTraced = (statement: Statement<unknown>, usual: Effect.Effect<unknown, SqlError>, way: Way) =>
      Effect.withFiberRuntime<unknown, SqlError>((fiber) => {
        if (fiber.getFiberRef(FiberRef.currentTracerEnabled)) return usual
        const transaction = Context.getOption(fiber.currentContext, SqlClient.TransactionConnection)
        const [text, values] = statement.compile()
        return way(Option.isSome(transaction) ? transaction.value[0] : pooled, text, values)
      })
    // Plain properties: this is done for every part of every statement.
    const straight = (statement: Statement<unknown>) =>
      Object.assign(statement, {
        commit: () => unlessTraced(statement, statement.withoutTransform, asRows),
        asText: () => unlessTraced(statement, statement.values, asValues)
      })
    const template = (...args: Parameters<SqlClient.SqlClient>) => {
      const made: unknown = sql(...args)
      return isStatement(made) ? straight(made) : made
    }
    return Object.assign(template, sql) as SqlClient.SqlClient // the same calls with the same answers
  }

/** The rows of a statement with every value in PostgreSQL's own text. */
export const textRows = (statement: Statement<unknown>) => {
  const run = "asText" in statement && typeof statement.asText === "function" ? statement.asText() : statement.values
  return run as Effect.Effect<ReadonlyArray<TextRow>, SqlError> // `executeValues` of our connections parses nothing
}
