import * as SqlClient from "@effect/sql/SqlClient"
import type { Connection } from "@effect/sql/SqlConnection"
import type { SqlError } from "@effect/sql/SqlError"
import { Context, Effect, Option } from "effect"
import { provideContext } from "../../concurrency/ProvideContext.ts"
import { PipelinedTransaction } from "./PipelinedTransaction.ts"

const send = (connection: Connection, text: string) => connection.executeUnprepared(text, [], undefined)

/**
 * Runs a top-level transaction. If ROLLBACK fails too, the failure of the work is reported. The caller makes this
 * uninterruptible, so the connection always returns to the pool.
 */
const runTransaction = <A, E, R>(transaction: PipelinedTransaction, work: Effect.Effect<A, E, R>) => {
  const release = <B, E2>(exit: Effect.Effect<B, E2>) => {
    transaction.release()
    return exit
  }
  return Effect.matchCauseEffect(work, {
    onSuccess: (value) =>
      Effect.matchCauseEffect(transaction.end("COMMIT"), {
        onSuccess: () => release(Effect.succeed(value)),
        onFailure: (cause) => release(Effect.failCause(cause))
      }),
    onFailure: (cause) =>
      Effect.flatMap(Effect.exit(transaction.end("ROLLBACK")), () => release(Effect.failCause(cause)))
  })
}

/** Runs a nested transaction as a savepoint. */
const runSavepoint = <A, E, R>(connection: Connection, name: string, work: Effect.Effect<A, E, R>) =>
  Effect.zipRight(
    send(connection, `SAVEPOINT ${name}`),
    Effect.matchCauseEffect(work, {
      onSuccess: (value) => Effect.as(send(connection, `RELEASE SAVEPOINT ${name}`), value),
      onFailure: (cause) =>
        Effect.zipRight(Effect.ignore(send(connection, `ROLLBACK TO SAVEPOINT ${name}`)), Effect.failCause(cause))
    })
  )

/**
 * Implements `withTransaction`: the same semantics and nesting as the library's, without its span and scope, which cost
 * more than the statements in between.
 */
export const makeWithTransaction =
  (acquire: Effect.Effect<PipelinedTransaction, SqlError>) =>
  <A, E, R>(work: Effect.Effect<A, E, R>): Effect.Effect<A, E | SqlError, R> =>
    Effect.uninterruptibleMask((restore) =>
      Effect.withFiberRuntime<A, E | SqlError, R>((fiber) => {
        const runOn = (connection: Connection, depth: number) =>
          provideContext(restore(work), Context.make(SqlClient.TransactionConnection, [connection, depth]))
        const outer = Context.getOption(fiber.currentContext, SqlClient.TransactionConnection)
        if (Option.isSome(outer)) {
          const [connection, depth] = outer.value
          return runSavepoint(connection, `s${depth + 1}`, runOn(connection, depth + 1))
        }
        return Effect.flatMap(acquire, (transaction) => runTransaction(transaction, runOn(transaction, 0)))
      })
    )

/**
 * Runs the last statement of a transaction together with COMMIT, in one round trip, which releases locks sooner. Inside a
 * savepoint or outside of a transaction it only runs the statement.
 */
export const commitWith = <A, E, R>(statement: Effect.Effect<A, E, R>): Effect.Effect<A, E, R> =>
  Effect.withFiberRuntime((fiber) => {
    const current = Context.getOption(fiber.currentContext, SqlClient.TransactionConnection)
    if (Option.isNone(current)) return statement
    const [connection, depth] = current.value
    if (depth === 0 && connection instanceof PipelinedTransaction) connection.commitWithNext()
    return statement
  })
