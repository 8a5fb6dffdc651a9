import * as SqlClient from "@effect/sql/SqlClient"
import type { Connection } from "@effect/sql/SqlConnection"
import type { SqlError } from "@effect/sql/SqlError"
import { isFragment, type Statement } from "@effect/sql/Statement"
import { Context, Effect, FiberRef, Option } from "effect"

const isStatement = (made: unknown): made is Statement<unknown> => isFragment(made) && "commit" in made

/**
 * Every statement of `@effect/sql` opens a span and a scope, which together cost more than the rest of it. While nobody
 * traces, statements go straight to their connection: the transaction's, or else the pool's.
 */
export const untraced =
  (pooled: Connection) =>
  (sql: SqlClient.SqlClient): SqlClient.SqlClient => {
    const unlessTraced = (statement: Statement<unknown>) =>
      Effect.withFiberRuntime<unknown, SqlError>((fiber) => {
        if (fiber.getFiberRef(FiberRef.currentTracerEnabled)) return statement.withoutTransform
        const transaction = Context.getOption(fiber.currentContext, SqlClient.TransactionConnection)
        const [text, values] = statement.compile()
        const connection = Option.isSome(transaction) ? transaction.value[0] : pooled
        return connection.execute(text, values, undefined)
      })
    // Plain properties: this is done for every part of every statement.
    const straight = (statement: Statement<unknown>) =>
      Object.assign(statement, { commit: () => unlessTraced(statement) })
    const template = (...args: Parameters<SqlClient.SqlClient>) => {
      const made: unknown = sql(...args)
      return isStatement(made) ? straight(made) : made
    }
    return Object.assign(template, sql) as SqlClient.SqlClient // the same calls with the same answers
  }
