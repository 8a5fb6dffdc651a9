import { readdir, readFile } from "node:fs/promises"
import * as SqlClient from "@effect/sql/SqlClient"
import { Effect, Layer, Schedule } from "effect"
import { isOutage, isStatementTimeout } from "./connection/Outage.ts"
import { type Migration, migrationOf } from "./migration/Migration.ts"
import { applyMigrations, MigrationFailed } from "./migration/Runner.ts"

/** The build puts the folder beside its bundle, so this holds there as well as here. */
const folder = new URL("./migrations/", import.meta.url)

/**
 * Every migration of this build, in order; the files are read once. Forward only: what has run anywhere is never edited,
 * the next change is the next file.
 */
export const migrations: Effect.Effect<ReadonlyArray<Migration>> = Effect.runSync(
  Effect.cached(
    Effect.promise(async () => {
      const files = (await readdir(folder)).filter((name) => name.endsWith(".sql")).sort()
      return Promise.all(files.map(async (file) => migrationOf(file, await readFile(new URL(file, folder), "utf8"))))
    })
  )
)

export const migrate = Effect.flatMap(migrations, applyMigrations)

/** Whether the database has seen every migration this build knows. Those of a later release do not matter. */
export const isMigrated = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const ids = (yield* migrations).map(({ id }) => id)
  const [row] = yield* sql<{ done: number }>`
    select count(*)::int as done from migrations where migration_id = any (${ids})`
  return row?.done === ids.length
})

/** A statement that takes too long would take as long the next time. */
const isPassing = (error: unknown) => {
  const cause = error instanceof MigrationFailed ? error.cause : error
  return isOutage(cause) && !isStatementTimeout(cause)
}

/** A process starts with the schema it was written for, and waits for a database that is not there yet. */
export const MigrationsLive = Layer.effectDiscard(
  migrate.pipe(
    Effect.tapErrorCause((cause) => Effect.logWarning("The database cannot be migrated yet", cause)),
    Effect.retry({ while: isPassing, schedule: Schedule.spaced("1 second") })
  )
)
