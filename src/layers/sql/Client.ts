import * as Reactivity from "@effect/experimental/Reactivity"
import * as SqlClient from "@effect/sql/SqlClient"
import { SqlError } from "@effect/sql/SqlError"
import { PgClient } from "@effect/sql-pg"
import { Effect, Layer, type Scope } from "effect"
import type pg from "pg"
import { connectionOver } from "./Connection.ts"
import { makePool } from "./Pool.ts"

const notAcquired = (cause: unknown) => new SqlError({ cause, message: "Failed to acquire a connection" })

/** A connection of its own for a transaction, given back when the scope closes and thrown away if it broke meanwhile. */
const reserve = (pool: pg.Pool): Effect.Effect<pg.PoolClient, SqlError, Scope.Scope> =>
  Effect.acquireRelease(Effect.tryPromise({ try: () => pool.connect(), catch: notAcquired }), (client) =>
    Effect.sync(() => client.release())
  ).pipe(
    Effect.tap((client) => {
      const ignore = () => {}
      client.on("error", ignore)
      return Effect.addFinalizer(() => Effect.sync(() => client.off("error", ignore)))
    })
  )

/** The SQL client of the Effect ecosystem over our own pool: its templates, transactions and migrator, our connections. */
export const SqlLive = Layer.scoped(
  SqlClient.SqlClient,
  Effect.flatMap(makePool, (pool) =>
    SqlClient.make({
      acquirer: Effect.succeed(connectionOver(pool)),
      transactionAcquirer: Effect.map(reserve(pool), connectionOver),
      compiler: PgClient.makeCompiler(),
      spanAttributes: [["db.system.name", "postgresql"]]
    })
  )
).pipe(Layer.provide(Reactivity.layer))
