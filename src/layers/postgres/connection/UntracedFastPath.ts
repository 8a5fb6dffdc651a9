import * as SqlClient from "@effect/sql/SqlClient"
import type { Connection } from "@effect/sql/SqlConnection"
import type { SqlError } from "@effect/sql/SqlError"
import { isFragment, type Statement } from "@effect/sql/Statement"
import { Context, Effect, FiberRef, Option } from "effect"

const isStatement = (built: unknown): built is Statement<unknown> => isFragment(built) && "commit" in built

/**
 * Every statement of `@effect/sql` opens a span and a scope, which together cost more than the rest of it. While tracing is
 * disabled, this sends statements straight to the connection of the transaction or of the pool.
 */
export const withUntracedFastPath =
  (pooled: Connection) =>
  (sql: SqlClient.SqlClient): SqlClient.SqlClient => {
    const runUnlessTraced = (statement: Statement<unknown>) =>
      Effect.withFiberRuntime<unknown, SqlError>((fiber) => {
        if (fiber.getFiberRef(FiberRef.currentTracerEnabled)) return statement.withoutTransform
        const transaction = Context.getOption(fiber.currentContext, SqlClient.TransactionConnection)
        const [text, values] = statement.compile()
        const connection = Option.isSome(transaction) ? transaction.value[0] : pooled
        return connection.execute(text, values, undefined)
      })
    // Object.assign, because this runs for every fragment of every statement.
    const withFastCommit = (statement: Statement<unknown>) =>
      Object.assign(statement, { commit: () => runUnlessTraced(statement) })
    const template = (...args: Parameters<SqlClient.SqlClient>) => {
      const built: unknown = sql(...args)
      return isStatement(built) ? withFastCommit(built) : built
    }
    return Object.assign(template, sql) as SqlClient.SqlClient // same signatures
  }
