import { SqlError } from "@effect/sql/SqlError"
import { Data, Duration, Effect, Schedule } from "effect"
import { setRoleDefaults } from "../connection/SessionSettings.ts"
import { isDeadlock, isLockTimeout } from "../connection/TransientErrors.ts"
import {
  alteredTablesOf,
  concurrentIndexesOf,
  type Migration,
  migrationFileName,
  type TableLock,
  tableLocksOf
} from "./Migration.ts"
import { type MigrationSession, openMigrationSession } from "./MigrationSession.ts"
import { splitStatements } from "./SqlStatements.ts"

export class MigrationError extends Data.TaggedError("MigrationError")<{
  readonly file: string
  readonly cause: unknown
}> {
  override get message() {
    const reason = this.cause instanceof SqlError ? this.cause.cause : this.cause
    return `${this.file} cannot be applied: ${reason instanceof Error ? reason.message : String(reason)}`
  }
}

/** The pause lets requests proceed that queued behind the lock of the last attempt. */
const lockRetrySchedule = Schedule.spaced("1 second").pipe(Schedule.jittered, Schedule.upTo("10 minutes"))

const createTable = `
  create table if not exists migrations (
    migration_id integer primary key,
    created_at timestamptz not null default now(),
    name text not null
  )`

const recordQueryOf = ({ id, name }: Migration) =>
  ["insert into migrations (migration_id, name) values ($1, $2)", [id, name]] as const

/**
 * Takes the locks of a migration. Requests take theirs in an order of their own, and where it differs, each waits for the
 * other. A table that could not be had therefore comes first the next time, when nothing is held while it is waited for.
 */
const makeLocker = (session: MigrationSession, migration: Migration) => {
  let locks = tableLocksOf(migration)
  const takeLock = (lock: TableLock) =>
    Effect.tapError(session.run(`lock table ${lock[0]} in ${lock[1]} mode`), () =>
      Effect.sync(() => {
        locks = [lock, ...locks.filter((other) => other !== lock)]
      })
    )
  const readExisting = session.run("select name from unnest($1::text[]) name where to_regclass(name) is not null", [
    locks.map(([table]) => table)
  ])
  return Effect.flatMap(readExisting, (rows) => {
    const existing = new Set(rows.map(({ name }) => name))
    return Effect.forEach(
      locks.filter(([table]) => existing.has(table)),
      takeLock,
      { discard: true }
    )
  })
}

const applyInTransaction = (session: MigrationSession, migration: Migration, before: Effect.Effect<void, SqlError>) =>
  session.inTransaction(
    before.pipe(Effect.zipRight(session.run(migration.text)), Effect.zipRight(session.run(...recordQueryOf(migration))))
  )

/** An interrupted build leaves an unusable index, which `if not exists` would keep. */
const dropInvalidIndexes = (session: MigrationSession, migration: Migration) =>
  session
    .run(
      `select c.oid::regclass::text as name from pg_index i join pg_class c on c.oid = i.indexrelid
       where not i.indisvalid and c.relname = any ($1) and pg_table_is_visible(i.indrelid)`,
      [concurrentIndexesOf(migration)]
    )
    .pipe(
      Effect.flatMap((invalid) =>
        Effect.forEach(invalid, ({ name }) => session.run(`drop index concurrently if exists ${name}`))
      )
    )

const applyOneByOne = (session: MigrationSession, migration: Migration) =>
  dropInvalidIndexes(session, migration).pipe(
    Effect.zipRight(Effect.forEach(splitStatements(migration.text), (statement) => session.run(statement))),
    Effect.zipRight(session.run(...recordQueryOf(migration))),
    session.withoutTimeouts
  )

/** Every so many attempts interrupt autovacuum of the migration's tables first. */
const interruptInterval = 4

const makeAttempts = (session: MigrationSession, migration: Migration) => {
  const takeLocks = makeLocker(session, migration)
  let attempt = 0
  return Effect.suspend(() => {
    const tables = ++attempt % interruptInterval === 0 ? alteredTablesOf(migration) : []
    return Effect.zipRight(
      Effect.forEach(tables, session.interruptAutovacuum, { discard: true }),
      migration.isTransactional
        ? applyInTransaction(session, migration, attempt === 1 ? Effect.void : takeLocks)
        : applyOneByOne(session, migration)
    )
  })
}

const apply = (session: MigrationSession, migration: Migration) =>
  makeAttempts(session, migration).pipe(
    Effect.tapError((error) =>
      isLockTimeout(error)
        ? Effect.logInfo(`${migrationFileName(migration)} timed out waiting for a table lock; retrying`)
        : Effect.void
    ),
    Effect.retry({ while: (error) => isLockTimeout(error) || isDeadlock(error), schedule: lockRetrySchedule }),
    Effect.mapError((cause) => new MigrationError({ file: migrationFileName(migration), cause })),
    Effect.timed,
    Effect.tap(([elapsed]) =>
      Effect.logInfo(`Applied ${migrationFileName(migration)} in ${Math.ceil(Duration.toMillis(elapsed))} ms`)
    ),
    Effect.as(migration)
  )

/** Every unapplied migration, even one with a lower number than the last: branches may merge in another order. */
const pendingOf = (all: ReadonlyArray<Migration>, rows: ReadonlyArray<Record<string, unknown>>) =>
  Effect.gen(function* () {
    const applied = new Map(rows.map(({ migration_id, name }) => [migration_id, String(name)]))
    for (const migration of all) {
      const name = applied.get(migration.id)
      if (name === undefined || name === migration.name) continue
      const cause = `${migrationFileName({ id: migration.id, name })} has this number in the database; give the file the next one`
      return yield* new MigrationError({ file: migrationFileName(migration), cause })
    }
    return all.filter(({ id }) => !applied.has(id))
  })

/**
 * Applies the pending migrations, each file in a transaction of its own, and returns them. An advisory lock serializes
 * processes that start at the same time; the first one migrates.
 */
export const applyMigrations = (all: ReadonlyArray<Migration>) =>
  Effect.gen(function* () {
    const session = yield* openMigrationSession
    yield* session.run(createTable)
    const pending = yield* pendingOf(all, yield* session.run("select migration_id, name from migrations"))
    const applied = yield* Effect.forEach(pending, (migration) => apply(session, migration))
    yield* session.run(setRoleDefaults)
    return applied
  }).pipe(Effect.scoped)
