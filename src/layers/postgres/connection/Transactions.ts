import * as SqlClient from "@effect/sql/SqlClient"
import type { Connection } from "@effect/sql/SqlConnection"
import type { SqlError } from "@effect/sql/SqlError"
import { Context, Effect, Option } from "effect"
import { providing } from "../../concurrency/Providing.ts"
import { Transacting } from "./Transacting.ts"

const send = (connection: Connection, text: string) => connection.executeUnprepared(text, [], undefined)

/**
 * All of a transaction. If it cannot be undone, why its work failed still matters more. The connection is given back
 * whatever happens, since nothing in here can be interrupted.
 */
const whole = <A, E, R>(transaction: Transacting, work: Effect.Effect<A, E, R>) => {
  const giveBack = <B, E2>(exit: Effect.Effect<B, E2>) => {
    transaction.giveBack()
    return exit
  }
  return Effect.matchCauseEffect(work, {
    onSuccess: (value) =>
      Effect.matchCauseEffect(transaction.end("COMMIT"), {
        onSuccess: () => giveBack(Effect.succeed(value)),
        onFailure: (cause) => giveBack(Effect.failCause(cause))
      }),
    onFailure: (cause) =>
      Effect.flatMap(Effect.exit(transaction.end("ROLLBACK")), () => giveBack(Effect.failCause(cause)))
  })
}

/** A part of a transaction that can be undone alone. */
const part = <A, E, R>(connection: Connection, name: string, work: Effect.Effect<A, E, R>) =>
  Effect.zipRight(
    send(connection, `SAVEPOINT ${name}`),
    Effect.matchCauseEffect(work, {
      onSuccess: (value) => Effect.as(send(connection, `RELEASE SAVEPOINT ${name}`), value),
      onFailure: (cause) =>
        Effect.zipRight(Effect.ignore(send(connection, `ROLLBACK TO SAVEPOINT ${name}`)), Effect.failCause(cause))
    })
  )

/**
 * Transactions, and parts of one where they are nested, with the borders and the bookkeeping of the library's own but
 * without its span and scope, which cost more than the statements in between.
 */
export const makeTransactions =
  (reserve: Effect.Effect<Transacting, SqlError>) =>
  <A, E, R>(work: Effect.Effect<A, E, R>): Effect.Effect<A, E | SqlError, R> =>
    Effect.uninterruptibleMask((restore) =>
      Effect.withFiberRuntime<A, E | SqlError, R>((fiber) => {
        const within = (connection: Connection, depth: number) =>
          providing(restore(work), Context.make(SqlClient.TransactionConnection, [connection, depth]))
        const outer = Context.getOption(fiber.currentContext, SqlClient.TransactionConnection)
        if (Option.isSome(outer)) {
          const [connection, depth] = outer.value
          return part(connection, `s${depth + 1}`, within(connection, depth + 1))
        }
        return Effect.flatMap(reserve, (transaction) => whole(transaction, within(transaction, 0)))
      })
    )

/**
 * Runs a statement after which its transaction has nothing more to do: the two are done with one message, and locks are
 * held no longer than that. In a part of a transaction it is a statement like any other.
 */
export const finishing = <A, E, R>(statement: Effect.Effect<A, E, R>): Effect.Effect<A, E, R> =>
  Effect.withFiberRuntime((fiber) => {
    const within = Context.getOption(fiber.currentContext, SqlClient.TransactionConnection)
    if (Option.isNone(within)) return statement
    const [connection, depth] = within.value
    if (depth === 0 && connection instanceof Transacting) connection.closeWithNext()
    return statement
  })
