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
    const straight = (statement: Statement<unknown>) => {
      const usual: Effect.Effect<unknown, SqlError> = Effect.suspend(() => statement.withoutTransform)
      const commit = () =>
        Effect.withFiberRuntime<unknown, SqlError>((fiber) => {
          if (fiber.getFiberRef(FiberRef.currentTracerEnabled)) return usual
          const transaction = Context.getOption(fiber.currentContext, SqlClient.TransactionConnection)
          const [text, values] = statement.compile()
          return (Option.isSome(transaction) ? transaction.value[0] : pooled).execute(text, values, undefined)
        })
      return Object.assign(statement, { commit })
    }
    const template = (...args: Parameters<SqlClient.SqlClient>) => {
      const made: unknown = sql(...args)
      return isStatement(made) ? straight(made) : made
    }
    return Object.assign(template, sql) as SqlClient.SqlClient // the same calls with the same answers
  }
