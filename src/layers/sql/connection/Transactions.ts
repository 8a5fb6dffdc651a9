import * as SqlClient from "@effect/sql/SqlClient"
import type { Connection } from "@effect/sql/SqlConnection"
import type { SqlError } from "@effect/sql/SqlError"
import { Context, Effect, Option } from "effect"
import { providing } from "../../Providing.ts"
import type { Transacting } from "./Transacting.ts"

const send = (connection: Connection, text: string) => connection.executeUnprepared(text, [], undefined)

/** Runs work, which was begun already, to its end: `done` if it succeeds, `undo` if it does not. */
const ending = <A, E, R, E2>(
  work: Effect.Effect<A, E, R>,
  done: Effect.Effect<unknown, E2>,
  undo: Effect.Effect<unknown>
): Effect.Effect<A, E | E2, R> =>
  Effect.matchCauseEffect(work, {
    onSuccess: (value) => Effect.as(done, value),
    onFailure: (cause) => Effect.zipRight(undo, Effect.failCause(cause))
  })

/** Transactions by their connection, for those who know which of their statements is the last. */
const transactions = new WeakMap<Connection, Transacting>()

/**
 * All of a transaction. If it cannot be undone, why its work failed still matters more. The connection is given back
 * whatever happens, since nothing in here can be interrupted.
 */
const whole = <A, E, R>({ end, giveBack }: Transacting, work: Effect.Effect<A, E, R>) =>
  Effect.matchCauseEffect(ending(work, end("COMMIT"), Effect.ignore(end("ROLLBACK"))), {
    onSuccess: (value) => {
      giveBack()
      return Effect.succeed(value)
    },
    onFailure: (cause) => {
      giveBack()
      return Effect.failCause(cause)
    }
  })

/** A part of a transaction that can be undone alone. */
const part = <A, E, R>(connection: Connection, name: string, work: Effect.Effect<A, E, R>) =>
  Effect.zipRight(
    send(connection, `SAVEPOINT ${name}`),
    ending(
      work,
      send(connection, `RELEASE SAVEPOINT ${name}`),
      Effect.ignore(send(connection, `ROLLBACK TO SAVEPOINT ${name}`))
    )
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
        return Effect.flatMap(reserve, (transaction) => {
          transactions.set(transaction.connection, transaction)
          return whole(transaction, within(transaction.connection, 0))
        })
      })
    )

/**
 * Runs a statement after which its transaction has nothing more to do: the two are done with one message, and locks are
 * held no longer than that. In a part of a transaction it is a statement like any other.
 */
export const finishing = <A, E, R>(statement: Effect.Effect<A, E, R>): Effect.Effect<A, E, R> =>
  Effect.withFiberRuntime((fiber) => {
    const within = Context.getOption(fiber.currentContext, SqlClient.TransactionConnection)
    if (Option.isSome(within) && within.value[1] === 0) transactions.get(within.value[0])?.closeWithNext()
    return statement
  })
