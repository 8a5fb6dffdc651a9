import { readdir, readFile } from "node:fs/promises"
import * as SqlClient from "@effect/sql/SqlClient"
import { Effect, Layer, Schedule } from "effect"
import { isStatementTimeout, isTransient } from "./connection/TransientErrors.ts"
import { type Migration, parseMigration } from "./migration/Migration.ts"
import { applyMigrations, MigrationError } from "./migration/MigrationRunner.ts"

/** The build copies the folder next to its bundle, so this path is valid in both. */
const migrationsFolder = new URL("./migrations/", import.meta.url)

/**
 * Every migration of this build, in order. The files are read once. Migrations are forward-only: never edit a released
 * file, add the next one.
 */
export const migrations: Effect.Effect<ReadonlyArray<Migration>> = Effect.runSync(
  Effect.cached(
    Effect.promise(async () => {
      const files = (await readdir(migrationsFolder)).filter((name) => name.endsWith(".sql")).sort()
      return Promise.all(
        files.map(async (file) => parseMigration(file, await readFile(new URL(file, migrationsFolder), "utf8")))
      )
    })
  )
)

export const migrate = Effect.flatMap(migrations, applyMigrations)

/** Whether every migration of this build is applied. Migrations of later releases are ignored. */
export const isMigrated = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const ids = (yield* migrations).map(({ id }) => id)
  const [row] = yield* sql<{ done: number }>`
    select count(*)::int as done from migrations where migration_id = any (${ids})`
  return row?.done === ids.length
})

/** A statement timeout is not retried: the statement would take as long again. */
const isRetryable = (error: unknown) => {
  const cause = error instanceof MigrationError ? error.cause : error
  return isTransient(cause) && !isStatementTimeout(cause)
}

/** Migrates at process start, and waits for a database that is not reachable yet. */
export const MigrationsLive = Layer.effectDiscard(
  migrate.pipe(
    Effect.tapErrorCause((cause) => Effect.logWarning("Cannot migrate the database", cause)),
    Effect.retry({ while: isRetryable, schedule: Schedule.spaced("1 second") })
  )
)
