import { readFile } from "node:fs/promises"
import { join } from "node:path"
import { freshDatabase, openPool } from "./database.ts"

/** A database whose every statement the server of the run writes into its log before it is done. */
export const openLoggedDatabase = async () => {
  const database = await freshDatabase()
  const pool = openPool(database.url)
  await pool.query(`alter database ${database.name} set log_statement = 'all'`)
  const { rows } = await pool.query<{ data_directory: string }>("show data_directory")
  await pool.end()
  const log = join(rows[0]?.data_directory ?? "", "..", "..", "postgres.log")
  const logged = async () => (await readFile(log, "utf8")).match(/ LOG: {2}(statement|execute \S+): .*/g) ?? []

  return {
    url: database.url,
    drop: database.drop,
    /** The statements that were run meanwhile, each by its first line. */
    during: async (work: () => Promise<unknown>) => {
      const before = (await logged()).length
      await work()
      return (await logged()).slice(before)
    }
  }
}
