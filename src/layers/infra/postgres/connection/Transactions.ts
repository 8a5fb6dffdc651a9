import * as SqlClient from "@effect/sql/SqlClient"
import type { Connection } from "@effect/sql/SqlConnection"
import { SqlError } from "@effect/sql/SqlError"
import { Context, Effect, FiberRef, Option } from "effect"
import type pg from "pg"
import { RequestShare, type Share } from "../../concurrency/RequestShare.ts"
import { DriverConnection, type DriverQuery, isPrepared, submitQuery } from "./DriverConnection.ts"
import type { QueryCallback, StatementNames } from "./PreparedQuery.ts"
import { isConnectionFatal } from "./TransientErrors.ts"

const transactionClosed = new Error("This transaction is closed already")
const rolledBack = new Error("A statement of this transaction failed, so the server rolled it back")

const endError = (cause: Error) => new SqlError({ cause, message: "Failed to end the transaction" })

/** The connection of one transaction. BEGIN goes out with the first statement. */
export class PipelinedTransaction extends DriverConnection {
  readonly #client: pg.ClientBase
  readonly #release: (destroy: boolean) => void
  readonly #share: Share
  #isOpen = false
  #commitsWithNext = false
  /** Rejects further statements. The transaction may still be open, if its commit failed. */
  #isClosed = false
  #isFailed = false
  #isConnectionBroken = false

  constructor(
    client: pg.ClientBase,
    release: (destroy: boolean) => void,
    statementNames: StatementNames,
    share: Share
  ) {
    super(statementNames)
    this.#client = client
    this.#release = release
    this.#share = share
  }

  /** Pipelines COMMIT with the next statement, which must be the last one. */
  commitWithNext() {
    this.#commitsWithNext = true
  }

  protected send(query: DriverQuery, done: QueryCallback) {
    if (this.#isClosed) return done(transactionClosed)
    const begins = !this.#isOpen
    const commits = this.#commitsWithNext && isPrepared(query)
    this.#isOpen = true
    this.#isClosed ||= commits
    const settle: QueryCallback = (error, result) => {
      if (error !== undefined) this.#isConnectionBroken ||= isConnectionFatal(error)
      if (commits) {
        this.#isFailed = error !== undefined
        this.#isOpen = this.#isFailed && !begins
      }
      done(error, result)
    }
    // A statement that is alone is a transaction of its own.
    const isAlone = begins && commits
    const boundary = {
      begins: begins && !isAlone,
      commits: commits && !isAlone,
      guard: this.guardOf(this.#share)
    }
    submitQuery(this.#client, query, settle, boundary, begins)
  }

  #sendEnd(how: "COMMIT" | "ROLLBACK") {
    return Effect.async<void, SqlError>((resume) =>
      submitQuery(this.#client, { text: this.#isFailed ? "ROLLBACK" : how, values: [] }, (error, result) => {
        // A COMMIT that fails with an SQLSTATE has ended the transaction as well.
        if (error !== undefined) this.#isConnectionBroken ||= how === "ROLLBACK" || isConnectionFatal(error)
        const cause = error ?? (result?.command === how ? undefined : rolledBack)
        resume(cause === undefined ? Effect.void : Effect.fail(endError(cause)))
      })
    )
  }

  /** Ends the transaction if it is still open. Fails if the server answers COMMIT with ROLLBACK. */
  end(how: "COMMIT" | "ROLLBACK"): Effect.Effect<void, SqlError> {
    this.#isClosed = true
    // The server rolls back when the connection ends. Behind a statement that hangs, ROLLBACK would hang as well.
    if (this.#isConnectionBroken) return how === "COMMIT" ? Effect.fail(endError(rolledBack)) : Effect.void
    if (this.#isOpen) return this.#sendEnd(how)
    return this.#isFailed && how === "COMMIT" ? Effect.fail(endError(rolledBack)) : Effect.void
  }

  /** Returns the connection to the pool, which destroys it if it is unusable. */
  release() {
    this.#release(this.#isConnectionBroken)
  }
}

/** What `Effect.provide` does in twenty operations. Whoever changes the context where nothing interrupts restores it. */
const enterContext = (context: Context.Context<never>) => FiberRef.set(FiberRef.currentContext, context)

const send = (connection: Connection, text: string) => connection.executeUnprepared(text, [], undefined)

/**
 * Runs a top-level transaction. If ROLLBACK fails too, the failure of the work is reported. The caller makes this
 * uninterruptible, so the connection always returns to the pool.
 */
const runTransaction = <A, E, R>(
  transaction: PipelinedTransaction,
  context: Context.Context<never>,
  work: Effect.Effect<A, E, R>
) => {
  const release = <B, E2>(exit: Effect.Effect<B, E2>) => {
    transaction.release()
    return Effect.zipRight(enterContext(context), exit)
  }
  const inside = enterContext(Context.add(context, SqlClient.TransactionConnection, [transaction, 0]))
  return Effect.matchCauseEffect(Effect.zipRight(inside, work), {
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
      Effect.withFiberRuntime<A, E | SqlError, R>(({ currentContext }) => {
        const outer = Context.getOption(currentContext, SqlClient.TransactionConnection)
        if (Option.isSome(outer)) {
          const [connection, depth] = outer.value
          const nested = Effect.provideService(restore(work), SqlClient.TransactionConnection, [connection, depth + 1])
          return runSavepoint(connection, `s${depth + 1}`, nested)
        }
        return Effect.flatMap(acquire, (transaction) => runTransaction(transaction, currentContext, restore(work)))
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

/** Runs work in a transaction. A failure of the transaction itself is a defect, not an error of the caller. */
export const inTransaction =
  (sql: SqlClient.SqlClient) =>
  <A, E, R>(work: Effect.Effect<A, E, R>): Effect.Effect<A, Exclude<E, SqlError>, R> =>
    Effect.catchAll(
      sql.withTransaction(work),
      (error) => (error instanceof SqlError ? Effect.die(error) : Effect.fail(error as Exclude<E, SqlError>)) // narrowed by the condition
    )

/** Lets the server confirm what it must before the first statement of a request, if it has not yet. */
const confirmGuard = (sql: SqlClient.SqlClient) =>
  Effect.flatMap(RequestShare, ({ guard }) =>
    guard === undefined || guard.state === "confirmed" ? Effect.void : Effect.orDie(sql`select 1`)
  )

/** Runs reads in one snapshot, unaffected by concurrent writes. PostgreSQL sets the level only before any query. */
export const inSnapshot =
  (sql: SqlClient.SqlClient) =>
  <A, E, R>(work: Effect.Effect<A, E, R>) =>
    Effect.zipRight(
      confirmGuard(sql),
      inTransaction(sql)(Effect.zipRight(sql`set transaction isolation level repeatable read, read only`, work))
    )

/** Ends a transaction that must leave nothing behind, with the value of its work. */
class DryRunResult {
  readonly value: unknown
  constructor(value: unknown) {
    this.value = value
  }
}

/** Runs work in a transaction that is always rolled back. Returns what the work returned. */
export const inDryRun =
  (sql: SqlClient.SqlClient) =>
  <A, E, R>(work: Effect.Effect<A, E, R>): Effect.Effect<A, Exclude<E, SqlError>, R> =>
    Effect.flatMap(work, (value) => Effect.fail(new DryRunResult(value))).pipe(
      inTransaction(sql),
      Effect.catchAll((error) =>
        // The value is that of `work`.
        error instanceof DryRunResult ? Effect.succeed(error.value as A) : Effect.fail(error)
      )
    )

/** How a transition runs. A dry run does everything and rolls it back, so that it answers exactly as the transition. */
export interface TransactionMode {
  readonly dryRun?: boolean
}

export const withMode =
  (sql: SqlClient.SqlClient, { dryRun = false }: TransactionMode = {}) =>
  <A, E, R>(transition: Effect.Effect<A, E, R>) =>
    dryRun ? inDryRun(sql)(transition) : transition
