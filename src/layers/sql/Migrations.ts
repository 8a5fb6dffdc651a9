import { readdir, readFile } from "node:fs/promises"
import * as Migrator from "@effect/sql/Migrator"
import * as SqlClient from "@effect/sql/SqlClient"
import { SqlError } from "@effect/sql/SqlError"
import { Effect, Layer, Option, Schedule } from "effect"
import { isOutage } from "./connection/Outage.ts"

/** The build puts the folder beside its bundle, so this holds there as well as here. */
const folder = new URL("./migrations/", import.meta.url)

/** Forward only: what has run anywhere is never edited, the next change is the next file. */
const files = Effect.promise(async () => {
  const names = (await readdir(folder)).filter((name) => name.endsWith(".sql")).sort()
  return Promise.all(names.map(async (name) => [name, await readFile(new URL(name, folder), "utf8")] as const))
})

const loader = Effect.flatMap(files, (all) =>
  Migrator.fromRecord(
    Object.fromEntries(
      all.map(([name, text]) => [
        name.replace(".sql", ""),
        Effect.flatMap(SqlClient.SqlClient, (sql) => sql.unsafe(text).unprepared)
      ])
    )
  )
)

/** Any number that no other user of the database takes for its own lock. */
const lockKey = 7_206_133_517

/** Nothing here is in a hurry, and another copy's migration may take longer than a request may wait for a lock. */
const patience = (sql: SqlClient.SqlClient) =>
  sql.unsafe(`set local lock_timeout = 0; set local statement_timeout = 0; select pg_advisory_xact_lock(${lockKey})`)
    .unprepared

/** Made here, because the migrator would probe for its table by a failing statement, which ends our transaction. */
const ledger = (sql: SqlClient.SqlClient) => sql`
  create table if not exists migrations (
    migration_id integer primary key,
    created_at timestamptz not null default now(),
    name text not null
  )`

/** Runs what has not run yet. Copies starting together wait for each other, and one of them does the work. */
export const migrate = Effect.flatMap(SqlClient.SqlClient, (sql) =>
  sql.withTransaction(
    patience(sql).pipe(
      Effect.zipRight(ledger(sql)),
      Effect.zipRight(Migrator.make({})({ loader, table: "migrations" }))
    )
  )
)

/** Whether the database has seen every migration this build knows. */
export const isMigrated = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const rows = yield* sql<{ done: number }>`select count(*)::int as done from migrations`
  return (rows[0]?.done ?? 0) >= (yield* files).length
})

/** A process starts with the schema it was written for, and waits for a database that is not there yet. */
export const MigrationsLive = Layer.effectDiscard(
  migrate.pipe(
    // A connection that is lost meanwhile fails the end of the transaction as well, and that comes as a defect.
    Effect.catchSomeDefect((defect) => (defect instanceof SqlError ? Option.some(Effect.fail(defect)) : Option.none())),
    Effect.tapErrorCause((cause) => Effect.logWarning("The database cannot be migrated yet", cause)),
    Effect.retry({ while: isOutage, schedule: Schedule.spaced("1 second") }),
    Effect.tap((applied) =>
      applied.length > 0 ? Effect.logInfo(`Migrated: ${applied.map(([, name]) => name).join(", ")}`) : Effect.void
    )
  )
)
