import { readFile } from "node:fs/promises"
import { join } from "node:path"
import { migratedDatabase, openPool } from "./database.ts"

/** A database whose statements PostgreSQL logs. */
export const openLoggedDatabase = async () => {
  const database = await migratedDatabase()
  const pool = openPool(database.url)
  await pool.query(`alter database ${database.name} set log_statement = 'all'`)
  const { rows } = await pool.query<{ data_directory: string }>("show data_directory")
  await pool.end()
  const log = join(rows[0]?.data_directory ?? "", "..", "..", "postgres.log")
  const pattern = new RegExp(` ${database.name} LOG: {2}(statement|execute \\S+): .*`, "g")
  /** PostgreSQL logs a statement before it responds. */
  const readLog = async () => (await readFile(log, "utf8")).match(pattern) ?? []

  return {
    url: database.url,
    drop: database.drop,
    /** The first lines of the statements that ran during the work. */
    during: async (work: () => Promise<unknown>) => {
      const before = (await readLog()).length
      await work()
      return (await readLog()).slice(before)
    }
  }
}
