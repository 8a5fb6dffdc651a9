import type pg from "pg"
import { pool } from "./database.ts"

export type Connection = Pick<pg.ClientBase, "query">

export const inTransaction = async <A>(work: (connection: Connection) => Promise<A>) => {
  const client = await pool.connect()
  try {
    await client.query("BEGIN")
    const result = await work(client)
    await client.query("COMMIT")
    return result
  } catch (error) {
    await client.query("ROLLBACK")
    throw error
  } finally {
    client.release()
  }
}
