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

const notAcquired = (cause: unknown) => new SqlError({ cause, message: "Failed to acquire a connection" })

/** A connection for one transaction alone, thrown away afterwards if it was lost. */
const reserve = (pool: pg.Pool): Effect.Effect<Transacting, SqlError> =>
  Effect.async((resume) =>
    pool.connect((cause, client, release) => {
      if (client === undefined) return resume(Effect.fail(notAcquired(cause)))
      refreshPlans(client)
      prepareBorders(client, (error) => {
        if (error === undefined) return resume(Effect.succeed(new Transacting(client, release)))
        release(true)
        resume(Effect.fail(notAcquired(error)))
      })
    })
  )

/**
 * The SQL client of the Effect ecosystem over a pool of so many connections: its templates and migrator, our connections
 * and transactions.
 */
export const makeSqlClient = (maxConnections: number) =>
  Effect.flatMap(makePool(maxConnections), (pool) => {
    const pooled = new Pooled(pool)
    return SqlClient.make({
      acquirer: Effect.succeed(pooled),
      transactionAcquirer: Effect.dieMessage("transactions are our own"),
      compiler: makeCompiler(),
      spanAttributes: [["db.system.name", "postgresql"]]
    }).pipe(
      Effect.map(untraced(pooled)),
      Effect.map((sql) => Object.assign(sql, { withTransaction: makeTransactions(reserve(pool)) }))
    )
  }).pipe(Effect.provide(Reactivity.layer))

export const SqlLive = Layer.scoped(
  SqlClient.SqlClient,
  Effect.flatMap(Settings, ({ DATABASE_POOL }) => makeSqlClient(DATABASE_POOL))
)

/** Connections apart from the pool, for those who must not wait behind requests. */
export const reservedSqlLive = (connections: number) => Layer.scoped(SqlClient.SqlClient, makeSqlClient(connections))
