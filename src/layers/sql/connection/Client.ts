import * as Reactivity from "@effect/experimental/Reactivity"
import * as SqlClient from "@effect/sql/SqlClient"
import { SqlError } from "@effect/sql/SqlError"
import { makeCompiler } from "@effect/sql-pg/PgClient"
import { Effect, Layer } from "effect"
import type pg from "pg"
import { connectionOver, type Send, sendOver, submit } from "./Connection.ts"
import { isLost } from "./Outage.ts"
import { makePool } from "./Pool.ts"
import { makeTransactions, type Reserved } from "./Transactions.ts"
import { untraced } from "./Untraced.ts"

const notAcquired = (cause: unknown) => new SqlError({ cause, message: "Failed to acquire a connection" })

/** A connection of its own for a transaction, thrown away afterwards if it was lost. */
const reserve = (pool: pg.Pool): Effect.Effect<Reserved, SqlError> =>
  Effect.async((resume) =>
    pool.connect((cause, client, release) => {
      if (client === undefined) return resume(Effect.fail(notAcquired(cause)))
      let lost = false
      const send: Send = (query, done) =>
        submit(client, query, (error, result) => {
          lost ||= error !== undefined && isLost(error)
          done(error, result)
        })
      resume(Effect.succeed({ connection: connectionOver(send), giveBack: (broken) => release(lost || broken) }))
    })
  )

/** The SQL client of the Effect ecosystem over our own pool: its templates and migrator, our connections and transactions. */
export const SqlLive = Layer.scoped(
  SqlClient.SqlClient,
  Effect.flatMap(makePool, (pool) => {
    const pooled = connectionOver(sendOver(pool))
    return SqlClient.make({
      acquirer: Effect.succeed(pooled),
      transactionAcquirer: Effect.map(
        Effect.acquireRelease(reserve(pool), ({ giveBack }) => Effect.sync(() => giveBack(false))),
        ({ connection }) => connection
      ),
      compiler: makeCompiler(),
      spanAttributes: [["db.system.name", "postgresql"]]
    }).pipe(
      Effect.map(untraced(pooled)),
      Effect.map((sql) => Object.assign(sql, { withTransaction: makeTransactions(reserve(pool)) }))
    )
  })
).pipe(Layer.provide(Reactivity.layer))
