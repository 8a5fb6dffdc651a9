import * as Reactivity from "@effect/experimental/Reactivity"
import * as SqlClient from "@effect/sql/SqlClient"
import { SqlError } from "@effect/sql/SqlError"
import { makeCompiler } from "@effect/sql-pg/PgClient"
import { Effect, Layer } from "effect"
import type pg from "pg"
import { Settings } from "../../config/Settings.ts"
import { PooledConnection } from "./DriverConnection.ts"
import { PipelinedTransaction, prepareTransactionStatements } from "./PipelinedTransaction.ts"
import { makePool } from "./Pool.ts"
import { refreshPlans } from "./QueryPlans.ts"
import { makeWithTransaction } from "./TransactionRunner.ts"
import { withUntracedFastPath } from "./UntracedFastPath.ts"

const acquireError = (cause: unknown) => new SqlError({ cause, message: "Failed to acquire a connection" })

/** Takes a connection from the pool for one transaction. */
const acquireTransaction = (pool: pg.Pool): Effect.Effect<PipelinedTransaction, SqlError> =>
  Effect.async((resume) =>
    pool.connect((cause, client, release) => {
      if (client === undefined) return resume(Effect.fail(acquireError(cause)))
      refreshPlans(client)
      prepareTransactionStatements(client, (error) => {
        if (error === undefined) return resume(Effect.succeed(new PipelinedTransaction(client, release)))
        release(true)
        resume(Effect.fail(acquireError(error)))
      })
    })
  )

/**
 * The SQL client of `@effect/sql` over a pool. Statement templates are the library's; connections and transactions are
 * implemented here.
 */
export const makeSqlClient = (maxConnections: number) =>
  Effect.flatMap(makePool(maxConnections), (pool) => {
    const pooled = new PooledConnection(pool)
    return SqlClient.make({
      acquirer: Effect.succeed(pooled),
      transactionAcquirer: Effect.dieMessage("withTransaction is replaced; transactionAcquirer must not be used"),
      compiler: makeCompiler(),
      spanAttributes: [["db.system.name", "postgresql"]]
    }).pipe(
      Effect.map(withUntracedFastPath(pooled)),
      Effect.map((sql) => Object.assign(sql, { withTransaction: makeWithTransaction(acquireTransaction(pool)) }))
    )
  }).pipe(Effect.provide(Reactivity.layer))

export const SqlLive = Layer.scoped(
  SqlClient.SqlClient,
  Effect.flatMap(Settings, ({ DATABASE_POOL }) => makeSqlClient(DATABASE_POOL))
)

/** A separate pool for work that must not queue behind requests. */
export const reservedSqlLive = (connections: number) => Layer.scoped(SqlClient.SqlClient, makeSqlClient(connections))
