import { Effect, Logger } from "effect"
import pg from "pg"
import { readSettings, Settings } from "../../../src/layers/infra/config/Settings.ts"
import { migrate } from "../../../src/layers/infra/postgres/Migrations.ts"

/** The database that the databases of the tests are copied from. */
export const migratedTemplate = "migrated"

/** Prepares the server of a run. Creates the template; nobody connects to it afterwards, because a copy needs it unused. */
export const prepareServer = async (serverUrl: string) => {
  const client = new pg.Client({ connectionString: serverUrl })
  await client.connect()
  try {
    // Each line of the log names its database, for tests that read the statements of one.
    await client.query("alter system set log_line_prefix = '%m [%p] %d '")
    await client.query("select pg_reload_conf()")
    await client.query(`create database ${migratedTemplate}`)
    const url = new URL(serverUrl)
    url.pathname = `/${migratedTemplate}`
    const settings = await Effect.runPromise(readSettings({ DATABASE_URL: url.href }))
    await Effect.runPromise(
      migrate.pipe(Effect.provideService(Settings, settings), Effect.provide(Logger.remove(Logger.defaultLogger)))
    )
    await client.query(`alter database ${migratedTemplate} allow_connections false`)
  } finally {
    await client.end()
  }
}
