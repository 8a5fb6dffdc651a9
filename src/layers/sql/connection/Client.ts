import * as Reactivity from "@effect/experimental/Reactivity"
import * as SqlClient from "@effect/sql/SqlClient"
import { SqlError } from "@effect/sql/SqlError"
import { makeCompiler } from "@effect/sql-pg/PgClient"
import { Effect, Layer } from "effect"
import type pg from "pg"
import { connectionOver, type Send, sendOver, submit } from "./Connection.ts"
import { isLost } from "./Outage.ts"
import { makePool } from "./Pool.ts"
import { untraced } from "./Untraced.ts"

const notAcquired = (cause: unknown) => new SqlError({ cause, message: "Failed to acquire a connection" })

/** A connection of its own for a transaction, given back when the scope closes and thrown away if it was lost. */
const reserve = (pool: pg.Pool) =>
  Effect.acquireRelease(
    Effect.map(Effect.tryPromise({ try: () => pool.connect(), catch: notAcquired }), (client) => {
      let lost = false
      const send: Send = (query, done) =>
        submit(client, query, (error, result) => {
          lost ||= error !== undefined && isLost(error)
          done(error, result)
        })
      return { connection: connectionOver(send), giveBack: () => client.release(lost) }
    }),
    ({ giveBack }) => Effect.sync(giveBack)
  ).pipe(Effect.map(({ connection }) => connection))

/** The SQL client of the Effect ecosystem over our own pool: its templates, transactions and migrator, our connections. */
export const SqlLive = Layer.scoped(
  SqlClient.SqlClient,
  Effect.flatMap(makePool, (pool) => {
    const pooled = connectionOver(sendOver(pool))
    return SqlClient.make({
      acquirer: Effect.succeed(pooled),
      transactionAcquirer: reserve(pool),
      compiler: makeCompiler(),
      spanAttributes: [["db.system.name", "postgresql"]]
    }).pipe(Effect.map(untraced(pooled)))
  })
).pipe(Layer.provide(Reactivity.layer))
