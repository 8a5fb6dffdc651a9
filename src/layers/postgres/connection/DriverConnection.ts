import type { Connection } from "@effect/sql/SqlConnection"
import { SqlError } from "@effect/sql/SqlError"
import { Effect, Stream } from "effect"
import type pg from "pg"
import { type DriverCallback, NamedQuery, queryTimeoutOptions } from "./NamedQuery.ts"
import { PipelinedQuery, type TransactionBoundary } from "./PipelinedQuery.ts"
import { refreshPlans } from "./QueryPlans.ts"
import { isConnectionFatal, isStalePlan } from "./TransientErrors.ts"

export type DriverQuery = pg.QueryConfig | pg.QueryArrayConfig
export type QueryCallback = (error: Error | undefined, result?: pg.QueryResult) => void

/** Statement texts are few and constant. Beyond this limit, statements stay unnamed, which bounds the plans of the server. */
const maxStatementNames = 500
const statementNames = new Map<string, string>()

const statementNameOf = (text: string) => {
  const known = statementNames.get(text)
  if (known !== undefined || statementNames.size >= maxStatementNames) return known
  const name = `s${statementNames.size}`
  statementNames.set(text, name)
  return name
}

/** These get a query timeout although they have no values. Migrations, which have no values either, get none. */
const isTransactionStatement = (text: string) => /^(BEGIN|COMMIT|ROLLBACK|SAVEPOINT|RELEASE)/.test(text)

const preparedQuery = (text: string, values: ReadonlyArray<unknown>): DriverQuery => {
  const name = statementNameOf(text)
  const query: DriverQuery = { text, values: [...values], ...queryTimeoutOptions }
  if (name !== undefined) query.name = name
  return query
}

/** Without values, a text may contain several statements, as a migration does. */
const unpreparedQuery = (text: string, values: ReadonlyArray<unknown>): DriverQuery => ({
  text,
  ...(values.length === 0 ? {} : { values: [...values] })
})

const rowsOf = ({ rows }: pg.QueryResult) => rows ?? []

export const isPrepared = (query: DriverQuery) => query.name !== undefined && !("rowMode" in query)

/** Hands a query to the driver, as a `NamedQuery` if it is prepared or a transaction statement. */
const submitOnce = (client: pg.ClientBase, query: DriverQuery, done: QueryCallback, boundary?: TransactionBoundary) => {
  let isSettled = false
  const settle: DriverCallback = (error, result) => {
    // The driver calls back twice for a query that it could not send: again when the connection is destroyed.
    if (isSettled) return
    isSettled = true
    done(error ?? undefined, result)
  }
  if (!isPrepared(query) && !isTransactionStatement(query.text)) client.query(query, settle)
  else
    client.query(boundary === undefined ? new NamedQuery(query, settle) : new PipelinedQuery(query, settle, boundary))
}

/** Connections with prepared statements that a migration has invalidated. */
const clientsWithStalePlans = new WeakSet<pg.ClientBase>()

/** Whether the pool must destroy the connection instead of reusing it. */
export const isUnusable = (client: pg.ClientBase, error?: Error) =>
  (error !== undefined && isConnectionFatal(error)) || clientsWithStalePlans.has(client)

/**
 * Retries a statement under another name if a migration has changed its result type. An earlier statement of the same
 * transaction rules the retry out, because the failure has undone it.
 */
export const submitQuery = (
  client: pg.ClientBase,
  query: DriverQuery,
  done: QueryCallback,
  boundary?: TransactionBoundary,
  canRetry = true
) =>
  submitOnce(
    client,
    query,
    (error, result) => {
      if (query.name === undefined || !isStalePlan(error)) return done(error, result)
      clientsWithStalePlans.add(client)
      if (!canRetry) return done(error)
      if (boundary?.begins) submitOnce(client, { text: "ROLLBACK" }, () => {})
      submitOnce(client, { ...query, name: `${query.name} anew` }, done, boundary)
    },
    boundary
  )

/**
 * Implements the connection of `@effect/sql`. Statements are uninterruptible: a cancel request goes over another
 * connection and may hit the next user of this one (Effect-TS/effect#8068). Server-side timeouts bound them. A class,
 * because every transaction creates one.
 */
export abstract class DriverConnection implements Connection {
  protected abstract send(query: DriverQuery, done: QueryCallback): void

  private run<A>(query: DriverQuery, read: (result: pg.QueryResult) => A) {
    return Effect.uninterruptible(
      Effect.async<A, SqlError>((resume) =>
        this.send(query, (cause, result) =>
          resume(
            result === undefined || cause !== undefined
              ? Effect.fail(new SqlError({ cause, message: "Failed to execute statement" }))
              : Effect.succeed(read(result))
          )
        )
      )
    )
  }

  execute(text: string, values: ReadonlyArray<unknown>) {
    return this.run(preparedQuery(text, values), rowsOf)
  }

  executeRaw(text: string, values: ReadonlyArray<unknown>) {
    return this.run(preparedQuery(text, values), (result) => result)
  }

  executeValues(text: string, values: ReadonlyArray<unknown>) {
    return this.run({ ...preparedQuery(text, values), rowMode: "array" }, rowsOf)
  }

  executeUnprepared(text: string, values: ReadonlyArray<unknown>) {
    return this.run(unpreparedQuery(text, values), rowsOf)
  }

  executeStream() {
    return Stream.die("Streaming is not supported; read page by page")
  }
}

/** Runs each statement on any free connection of the pool. A failed statement alone does not make a connection unusable. */
export class PooledConnection extends DriverConnection {
  readonly #pool: pg.Pool

  constructor(pool: pg.Pool) {
    super()
    this.#pool = pool
  }

  protected send(query: DriverQuery, done: QueryCallback) {
    this.#pool.connect((error, client, release) => {
      if (client === undefined) return done(error)
      refreshPlans(client)
      submitQuery(client, query, (error, result) => {
        release(isUnusable(client, error))
        done(error, result)
      })
    })
  }
}
