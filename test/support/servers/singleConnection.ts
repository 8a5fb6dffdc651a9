import { SqlClient } from "@effect/sql/SqlClient"
import { ManagedRuntime } from "effect"
import { openPool } from "./database.ts"
import { testLayers } from "./layers.ts"
import { openLoggedDatabase } from "./statementLog.ts"

/** The SQL client of the service with one connection, and a separate pool for statements beside it. */
export const openSingleConnection = async (schema: string) => {
  const database = await openLoggedDatabase()
  const pool = openPool(database.url)
  await pool.query(schema)
  const runtime = ManagedRuntime.make(testLayers(database.url, { DATABASE_POOL: "1" }))
  const stop = async () => {
    await runtime.dispose()
    await pool.end()
    await database.drop()
  }
  return { database, pool, runtime, sql: await runtime.runPromise(SqlClient), stop }
}

export type SingleConnection = Awaited<ReturnType<typeof openSingleConnection>>
