import { randomBytes } from "node:crypto"
import pg from "pg"
import { inject } from "vitest"

const admin = async (statement: string) => {
  const client = new pg.Client({ connectionString: inject("databaseUrl") })
  await client.connect()
  try {
    await client.query(statement)
  } finally {
    await client.end()
  }
}

/** An empty database of the run's server, for one test file. The server is thrown away as a whole. */
export const freshDatabase = async () => {
  const name = `test_${randomBytes(6).toString("hex")}`
  await admin(`create database ${name}`)
  const url = new URL(inject("databaseUrl"))
  url.pathname = `/${name}`
  return { name, url: url.href, drop: () => admin(`drop database ${name} with (force)`) }
}

/** Statements beside the service, to look at or prepare what it works on. */
export const openPool = (connectionString: string) => {
  const pool = new pg.Pool({ connectionString, max: 4 })
  // The pool has ended before its connections are closed, and the database may be dropped in between.
  pool.on("error", (error) => {
    if (!pool.ending) throw error
  })
  return pool
}
