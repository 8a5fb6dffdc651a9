import type { Connection } from "@effect/sql/SqlConnection"
import { SqlError } from "@effect/sql/SqlError"
import { Effect, Stream } from "effect"
import type pg from "pg"
import { longWorkRows, yieldToEventLoop } from "../../concurrency/EventLoop.ts"
import type { Share, StatementGuard } from "../../concurrency/RequestShare.ts"
import type { ConnectionPool } from "./Pool.ts"
import {
  type NamedGuard,
  PreparedQuery,
  type QueryCallback,
  type StatementNames,
  type TransactionBoundary
} from "./PreparedQuery.ts"
import { isGuardRejection } from "./StatementGuard.ts"
import { isConnectionFatal, isStalePlan } from "./TransientErrors.ts"

export interface DriverQuery {
  readonly text: string
  readonly values: ReadonlyArray<unknown>
  /** The name of a prepared statement; empty for the unnamed one. */
  readonly name?: string
  readonly rowMode?: "array"
}

const noBoundary: TransactionBoundary = { begins: false, commits: false, guard: undefined }

const rowsOf = ({ rows }: pg.QueryResult) => rows ?? []

/** A query for the driver itself. Without values, its text may contain several statements. */
const toDriverConfig = ({ rowMode, text, values }: DriverQuery) => ({
  text,
  ...(values.length === 0 ? {} : { values: [...values] }),
  ...(rowMode === undefined ? {} : { rowMode })
})

export const isPrepared = (query: DriverQuery): query is DriverQuery & { readonly name: string } =>
  query.name !== undefined && query.rowMode === undefined

const submitUnprepared = (
  client: pg.ClientBase,
  query: DriverQuery,
  { begins }: TransactionBoundary,
  done: QueryCallback
) => {
  // The driver sends them in order. If BEGIN fails, so does the connection, and the query reports the error.
  if (begins) submitOnce(client, { text: "BEGIN", values: [] }, noBoundary, () => {})
  client.query(toDriverConfig(query), (error: Error | null, result) => done(error ?? undefined, result))
}

/** Sends the guard alone, and then the query, which cannot share a packet with it. */
const submitAfterGuard = (
  client: pg.ClientBase,
  query: DriverQuery,
  boundary: TransactionBoundary,
  guard: StatementGuard,
  done: QueryCallback
) =>
  client.query(toDriverConfig(guard), (error: Error | null) => {
    if (error === null) {
      guard.state = "confirmed"
      return submitUnprepared(client, query, boundary, done)
    }
    if (isGuardRejection(error)) guard.state = "rejected"
    done(error)
  })

const submitOnce = (client: pg.ClientBase, query: DriverQuery, boundary: TransactionBoundary, done: QueryCallback) => {
  let isSettled = false
  const settle: QueryCallback = (error, result) => {
    // The driver calls back twice for a query that it could not send: again when the connection is destroyed.
    if (isSettled) return
    isSettled = true
    done(error ?? undefined, result)
  }
  if (isPrepared(query)) return void client.query(new PreparedQuery(query, boundary, settle))
  if (boundary.guard !== undefined) return submitAfterGuard(client, query, boundary, boundary.guard.guard, settle)
  submitUnprepared(client, query, boundary, settle)
}

/**
 * Retries a statement if a migration has changed its result type. An earlier statement of the same transaction rules the
 * retry out, because the failure has undone it.
 */
export const submitQuery = (
  client: pg.ClientBase,
  query: DriverQuery,
  done: QueryCallback,
  boundary: TransactionBoundary = noBoundary,
  canRetry = true
) =>
  submitOnce(client, query, boundary, (error, result) => {
    if (!canRetry || !isPrepared(query) || !isStalePlan(error)) return done(error, result)
    if (boundary.begins) submitOnce(client, { text: "ROLLBACK", values: [] }, noBoundary, () => {})
    submitOnce(client, query, boundary, done)
  })

/**
 * Implements the connection of `@effect/sql`. Statements are uninterruptible: a cancel request goes over another
 * connection and may hit the next user of this one (Effect-TS/effect#8068). Server-side timeouts bound them. A class,
 * because every transaction creates one.
 */
export abstract class DriverConnection implements Connection {
  readonly #statementNames: StatementNames

  constructor(statementNames: StatementNames) {
    this.#statementNames = statementNames
  }

  protected abstract send(query: DriverQuery, done: QueryCallback): void

  private run<A>(query: DriverQuery, read: (result: pg.QueryResult) => A) {
    return Effect.uninterruptible(
      Effect.async<A, SqlError>((resume) =>
        this.send(query, (cause, result) => {
          if (result === undefined || cause !== undefined)
            return resume(Effect.fail(new SqlError({ cause, message: "Failed to execute statement" })))
          const value = Effect.succeed(read(result))
          resume(rowsOf(result).length < longWorkRows ? value : Effect.zipRight(yieldToEventLoop, value))
        })
      )
    )
  }

  /** The guard that the next statement must take along, if any. */
  protected guardOf({ guard }: Share): NamedGuard | undefined {
    return guard === undefined || guard.state === "confirmed"
      ? undefined
      : { guard, name: this.#statementNames(guard.text) ?? "" }
  }

  #prepare(text: string, values: ReadonlyArray<unknown>): DriverQuery {
    const name = this.#statementNames(text)
    return name === undefined ? { text, values } : { text, values, name }
  }

  execute(text: string, values: ReadonlyArray<unknown>) {
    return this.run(this.#prepare(text, values), rowsOf)
  }

  executeRaw(text: string, values: ReadonlyArray<unknown>) {
    return this.run(this.#prepare(text, values), (result) => result)
  }

  executeValues(text: string, values: ReadonlyArray<unknown>) {
    return this.run({ ...this.#prepare(text, values), rowMode: "array" }, rowsOf)
  }

  executeUnprepared(text: string, values: ReadonlyArray<unknown>) {
    return this.run({ text, values }, rowsOf)
  }

  executeStream() {
    return Stream.die("Streaming is not supported; read page by page")
  }
}

/**
 * Runs each statement on any free connection of the pool, in the share of `keys`. A failed statement alone does not make a
 * connection unusable.
 */
export class PooledConnection extends DriverConnection {
  readonly #pool: ConnectionPool
  readonly #share: Share

  constructor(pool: ConnectionPool, share: Share) {
    super(pool.statementNames)
    this.#pool = pool
    this.#share = share
  }

  protected send(query: DriverQuery, done: QueryCallback) {
    this.#pool.acquire(this.#share.keys, (error, client, release) => {
      if (client === undefined) return done(error)
      const settle: QueryCallback = (error, result) => {
        release(error !== undefined && isConnectionFatal(error))
        done(error, result)
      }
      submitQuery(client, query, settle, { begins: false, commits: false, guard: this.guardOf(this.#share) })
    })
  }
}
