import * as Reactivity from "@effect/experimental/Reactivity"
import * as SqlClient from "@effect/sql/SqlClient"
import type { Connection } from "@effect/sql/SqlConnection"
import { SqlError } from "@effect/sql/SqlError"
import { isFragment, type Statement } from "@effect/sql/Statement"
import { makeCompiler } from "@effect/sql-pg/PgClient"
import { Context, Effect, FiberRef, Layer, Option } from "effect"
import { RequestShare } from "../../concurrency/RequestShare.ts"
import { Settings } from "../../config/Settings.ts"
import { ConnectionMetrics } from "../../telemetry/ConnectionMetrics.ts"
import { PooledConnection } from "./DriverConnection.ts"
import { type ConnectionPool, makePool } from "./Pool.ts"
import { makeWithTransaction, PipelinedTransaction } from "./Transactions.ts"

const isStatement = (built: unknown): built is Statement<unknown> => isFragment(built) && "commit" in built

type PooledFor = (fiber: { readonly currentContext: Context.Context<never> }) => Connection

/**
 * Every statement of `@effect/sql` opens a span and a scope, which together cost more than the rest of it. While tracing is
 * disabled, this sends statements straight to the connection of the transaction or of the pool.
 */
export const withUntracedFastPath =
  (pooledFor: PooledFor) =>
  (sql: SqlClient.SqlClient): SqlClient.SqlClient => {
    const runUnlessTraced = (statement: Statement<unknown>) =>
      Effect.withFiberRuntime<unknown, SqlError>((fiber) => {
        if (fiber.getFiberRef(FiberRef.currentTracerEnabled)) return statement.withoutTransform
        const transaction = Context.getOption(fiber.currentContext, SqlClient.TransactionConnection)
        const [text, values] = statement.compile()
        const connection = Option.isSome(transaction) ? transaction.value[0] : pooledFor(fiber)
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

const acquireError = (cause: unknown) => new SqlError({ cause, message: "Failed to acquire a connection" })

/** Takes a connection from the pool for one transaction. */
const acquireTransaction = (pool: ConnectionPool) =>
  Effect.withFiberRuntime<PipelinedTransaction, SqlError>((fiber) =>
    Effect.async((resume) => {
      const share = Context.get(fiber.currentContext, RequestShare)
      pool.acquire(share.keys, (cause, client, release) => {
        if (client === undefined) return resume(Effect.fail(acquireError(cause)))
        resume(Effect.succeed(new PipelinedTransaction(client, release, pool.statementNames, share)))
      })
    })
  )

/**
 * The SQL client of `@effect/sql` over a pool. Statement templates are the library's; connections and transactions are
 * implemented here.
 */
export const makeSqlClient = (maxConnections: number) =>
  Effect.flatMap(makePool(maxConnections), (pool) => {
    const pooledFor: PooledFor = ({ currentContext }) =>
      new PooledConnection(pool, Context.get(currentContext, RequestShare))
    return SqlClient.make({
      acquirer: Effect.withFiberRuntime((fiber) => Effect.succeed(pooledFor(fiber))),
      transactionAcquirer: Effect.dieMessage("withTransaction is replaced; transactionAcquirer must not be used"),
      compiler: makeCompiler(),
      spanAttributes: [["db.system.name", "postgresql"]]
    }).pipe(
      Effect.map(withUntracedFastPath(pooledFor)),
      Effect.map((sql) => Object.assign(sql, { withTransaction: makeWithTransaction(acquireTransaction(pool)) }))
    )
  }).pipe(Effect.provide(Reactivity.layer))

export const SqlLive = Layer.scoped(
  SqlClient.SqlClient,
  Effect.flatMap(Settings, ({ DATABASE_POOL }) => makeSqlClient(DATABASE_POOL))
).pipe(Layer.provide(ConnectionMetrics.Default))

/** A separate pool for work that must not queue behind requests. */
export const reservedSqlLive = (connections: number) =>
  Layer.scoped(SqlClient.SqlClient, makeSqlClient(connections)).pipe(Layer.provide(ConnectionMetrics.Default))
