import { SqlClient } from "@effect/sql/SqlClient"
import { ManagedRuntime } from "effect"
import { openPool } from "./database.ts"
import { liveOn } from "./live.ts"
import { loggedDatabase } from "./statements.ts"

/** The service's own client with one connection to a database of these tables, and statements beside it. */
export const startOnOnlyConnection = async (schema: string) => {
  const database = await loggedDatabase()
  const pool = openPool(database.url)
  await pool.query(schema)
  const runtime = ManagedRuntime.make(liveOn(database.url, { DATABASE_POOL: "1" }))
  const stop = async () => {
    await runtime.dispose()
    await pool.end()
    await database.drop()
  }
  return { database, pool, runtime, sql: await runtime.runPromise(SqlClient), stop }
}

export type OnlyConnection = Awaited<ReturnType<typeof startOnOnlyConnection>>
