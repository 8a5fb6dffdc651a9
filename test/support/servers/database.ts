import { randomBytes } from "node:crypto"
import pg from "pg"
import { inject } from "vitest"
import { migratedTemplate } from "./migratedTemplate.ts"

const admin = async (statement: string) => {
  const client = new pg.Client({ connectionString: inject("databaseUrl") })
  // An error also rejects the query. Without a listener it would end the process, even if nobody needs the database.
  client.on("error", () => {})
  await client.connect()
  try {
    await client.query(statement)
  } finally {
    await client.end()
  }
}

interface TestDatabase {
  readonly name: string
  readonly url: string
  /** The settings of a process that uses it through a pooler. */
  readonly settingsAt: (poolerUrl: string) => { readonly DATABASE_URL: string; readonly DATABASE_DIRECT_URL: string }
  readonly drop: () => Promise<void>
}

const createDatabase = async (template: string): Promise<TestDatabase> => {
  const name = `test_${randomBytes(6).toString("hex")}`
  // Copying files takes less time than logging every page, also of the server when it drops the database.
  await admin(`create database ${name} template ${template} strategy file_copy`)
  const urlAt = (server: string) => {
    const url = new URL(server)
    url.pathname = `/${name}`
    return url.href
  }
  const url = urlAt(inject("databaseUrl"))
  const settingsAt = (poolerUrl: string) => ({ DATABASE_URL: urlAt(poolerUrl), DATABASE_DIRECT_URL: url })
  return { name, url, settingsAt, drop: () => admin(`drop database ${name} with (force)`) }
}

/** An empty database. */
export const freshDatabase = () => createDatabase("template1")

let nextMigrated: Promise<TestDatabase> | undefined

/** A database with all migrations applied: a copy takes a fraction of the time. The next one is made beside its test. */
export const migratedDatabase = async () => {
  const taken = nextMigrated ?? createDatabase(migratedTemplate)
  nextMigrated = undefined
  const database = await taken
  nextMigrated ??= createDatabase(migratedTemplate)
  // Whoever takes it gets the error. The last one of a run is never taken.
  nextMigrated.catch(() => {})
  return database
}

/** A pool beside the service, to inspect and prepare its database. */
export const openPool = (connectionString: string) => {
  const pool = new pg.Pool({ connectionString, max: 4 })
  // The pool has ended before its connections are closed, and the database may be dropped in between.
  pool.on("error", (error) => {
    if (!pool.ending) throw error
  })
  return pool
}
