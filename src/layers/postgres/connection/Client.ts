import * as Reactivity from "@effect/experimental/Reactivity"
import * as SqlClient from "@effect/sql/SqlClient"
import { SqlError } from "@effect/sql/SqlError"
import { makeCompiler } from "@effect/sql-pg/PgClient"
import { Effect, Layer } from "effect"
import type pg from "pg"
import { Settings } from "../../config/Settings.ts"
import { Pooled } from "./Connection.ts"
import { refreshPlans } from "./Planning.ts"
import { makePool } from "./Pool.ts"
import { prepareBorders, Transacting } from "./Transacting.ts"
import { makeTransactions } from "./Transactions.ts"
import { untraced } from "./Untraced.ts"

const acquireError = (cause: unknown) => new SqlError({ cause, message: "Failed to acquire a connection" })

/** Takes a connection from the pool for one transaction. */
const acquireTransaction = (pool: pg.Pool): Effect.Effect<Transacting, SqlError> =>
  Effect.async((resume) =>
    pool.connect((cause, client, release) => {
      if (client === undefined) return resume(Effect.fail(acquireError(cause)))
      refreshPlans(client)
      prepareBorders(client, (error) => {
        if (error === undefined) return resume(Effect.succeed(new Transacting(client, release)))
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
    const pooled = new Pooled(pool)
    return SqlClient.make({
      acquirer: Effect.succeed(pooled),
      transactionAcquirer: Effect.dieMessage("withTransaction is replaced; transactionAcquirer must not be used"),
      compiler: makeCompiler(),
      spanAttributes: [["db.system.name", "postgresql"]]
    }).pipe(
      Effect.map(untraced(pooled)),
      Effect.map((sql) => Object.assign(sql, { withTransaction: makeTransactions(acquireTransaction(pool)) }))
    )
  }).pipe(Effect.provide(Reactivity.layer))

export const SqlLive = Layer.scoped(
  SqlClient.SqlClient,
  Effect.flatMap(Settings, ({ DATABASE_POOL }) => makeSqlClient(DATABASE_POOL))
)

/** A separate pool for work that must not queue behind requests. */
export const reservedSqlLive = (connections: number) => Layer.scoped(SqlClient.SqlClient, makeSqlClient(connections))
