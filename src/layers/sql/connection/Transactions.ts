import * as SqlClient from "@effect/sql/SqlClient"
import type { Connection } from "@effect/sql/SqlConnection"
import type { SqlError } from "@effect/sql/SqlError"
import { Context, Effect, Option } from "effect"

/** A connection for one transaction alone. */
export interface Reserved {
  readonly connection: Connection
  readonly giveBack: (broken: boolean) => void
}

const send = (connection: Connection, text: string) => connection.executeUnprepared(text, [], undefined)

/** Runs work between two statements: `done` if it succeeds, `undo` if it does not. */
const between = <A, E, R>(
  connection: Connection,
  texts: { readonly start: string; readonly done: string; readonly undo: string },
  work: Effect.Effect<A, E, R>,
  broken: () => void
): Effect.Effect<A, E | SqlError, R> =>
  Effect.flatMap(send(connection, texts.start), () =>
    Effect.matchCauseEffect(work, {
      onSuccess: (value) => Effect.tapError(Effect.as(send(connection, texts.done), value), () => Effect.sync(broken)),
      // That it cannot be undone means that the connection is not to be used again; why the work failed matters more.
      onFailure: (cause) =>
        Effect.zipRight(
          Effect.catchAll(send(connection, texts.undo), () => Effect.sync(broken)),
          Effect.failCause(cause)
        )
    })
  )

const whole = { start: "BEGIN", done: "COMMIT", undo: "ROLLBACK" }

const part = (depth: number) => ({
  start: `SAVEPOINT s${depth}`,
  done: `RELEASE SAVEPOINT s${depth}`,
  undo: `ROLLBACK TO SAVEPOINT s${depth}`
})

/**
 * Transactions, and parts of one where they are nested, with the borders and the bookkeeping of the library's own but
 * without its span and scope, which cost more than the statements in between.
 */
export const makeTransactions =
  (reserve: Effect.Effect<Reserved, SqlError>) =>
  <A, E, R>(work: Effect.Effect<A, E, R>): Effect.Effect<A, E | SqlError, R> =>
    Effect.uninterruptibleMask((restore) =>
      Effect.withFiberRuntime<A, E | SqlError, R>((fiber) => {
        const within = (connection: Connection, depth: number) =>
          Effect.provideService(restore(work), SqlClient.TransactionConnection, [connection, depth])
        const outer = Context.getOption(fiber.currentContext, SqlClient.TransactionConnection)
        if (Option.isSome(outer)) {
          const [connection, depth] = outer.value
          return between(connection, part(depth + 1), within(connection, depth + 1), () => {})
        }
        return Effect.flatMap(reserve, ({ connection, giveBack }) => {
          let isBroken = false
          const transaction = between(connection, whole, within(connection, 0), () => {
            isBroken = true
          })
          return Effect.ensuring(
            transaction,
            Effect.sync(() => giveBack(isBroken))
          )
        })
      })
    )
