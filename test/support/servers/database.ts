import { randomBytes } from "node:crypto"
import pg from "pg"
import { inject } from "vitest"
import { migratedTemplate } from "./migratedTemplate.ts"

const admin = async (statement: string) => {
  const client = new pg.Client({ connectionString: inject("databaseUrl") })
  await client.connect()
  try {
    await client.query(statement)
  } finally {
    await client.end()
  }
}

const createDatabase = async (template: string) => {
  const name = `test_${randomBytes(6).toString("hex")}`
  await admin(`create database ${name} template ${template}`)
  const url = new URL(inject("databaseUrl"))
  url.pathname = `/${name}`
  return { name, url: url.href, drop: () => admin(`drop database ${name} with (force)`) }
}

/** An empty database. */
export const freshDatabase = () => createDatabase("template1")

/** A database with all migrations applied: a copy takes a fraction of the time. */
export const migratedDatabase = () => createDatabase(migratedTemplate)

/** A pool beside the service, to inspect and prepare its database. */
export const openPool = (connectionString: string) => {
  const pool = new pg.Pool({ connectionString, max: 4 })
  // The pool has ended before its connections are closed, and the database may be dropped in between.
  pool.on("error", (error) => {
    if (!pool.ending) throw error
  })
  return pool
}
