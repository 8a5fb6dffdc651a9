import { SqlError } from "@effect/sql/SqlError"
import { Data, Duration, Effect, Schedule } from "effect"
import { isDeadlock, isLockTimeout } from "../connection/Outage.ts"
import { concurrentIndexesOf, fileOf, type Migration } from "./Migration.ts"
import { openSession, type Session } from "./Session.ts"
import { statementsOf } from "./Statements.ts"

export class MigrationFailed extends Data.TaggedError("MigrationFailed")<{
  readonly file: string
  readonly cause: unknown
}> {
  override get message() {
    const reason = this.cause instanceof SqlError ? this.cause.cause : this.cause
    return `${this.file} cannot be applied: ${reason instanceof Error ? reason.message : String(reason)}`
  }
}

/** Between two attempts the requests that queued behind the last one are answered. */
const retries = Schedule.spaced("1 second").pipe(Schedule.jittered, Schedule.upTo("10 minutes"))

const createTable = `
  create table if not exists migrations (
    migration_id integer primary key,
    created_at timestamptz not null default now(),
    name text not null
  )`

const noteOf = ({ id, name }: Migration) =>
  ["insert into migrations (migration_id, name) values ($1, $2)", [id, name]] as const

const applyInTransaction = (session: Session, migration: Migration) =>
  session.inTransaction(Effect.zipRight(session.run(migration.text), session.run(...noteOf(migration))))

/** An index whose building was interrupted is there and of no use, and `if not exists` would leave it so. */
const dropInvalidIndexes = (session: Session, migration: Migration) =>
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

const applyOneByOne = (session: Session, migration: Migration) =>
  dropInvalidIndexes(session, migration).pipe(
    Effect.zipRight(Effect.forEach(statementsOf(migration.text), (statement) => session.run(statement))),
    Effect.zipRight(session.run(...noteOf(migration))),
    session.withoutTimeouts
  )

const attempting = (session: Session, migration: Migration) => {
  const work = migration.isTransactional ? applyInTransaction : applyOneByOne
  let attempt = 0
  return Effect.suspend(() => Effect.zipRight(session.beginAttempt(++attempt), work(session, migration)))
}

const apply = (session: Session, migration: Migration) =>
  attempting(session, migration).pipe(
    Effect.tapError((error) =>
      isLockTimeout(error) ? Effect.logInfo(`${fileOf(migration)} waits for a table in use; trying again`) : Effect.void
    ),
    Effect.retry({ while: (error) => isLockTimeout(error) || isDeadlock(error), schedule: retries }),
    Effect.mapError((cause) => new MigrationFailed({ file: fileOf(migration), cause })),
    Effect.timed,
    Effect.tap(([took]) => Effect.logInfo(`Applied ${fileOf(migration)} in ${Math.ceil(Duration.toMillis(took))} ms`)),
    Effect.as(migration)
  )

/** What has not run yet, whatever its number: two branches may have been merged in another order than they were numbered. */
const pendingOf = (all: ReadonlyArray<Migration>, rows: ReadonlyArray<Record<string, unknown>>) =>
  Effect.gen(function* () {
    const applied = new Map(rows.map(({ migration_id, name }) => [migration_id, String(name)]))
    for (const migration of all) {
      const name = applied.get(migration.id)
      if (name === undefined || name === migration.name) continue
      const cause = `${fileOf({ id: migration.id, name })} has this number in the database; give the file the next one`
      return yield* new MigrationFailed({ file: fileOf(migration), cause })
    }
    return all.filter(({ id }) => !applied.has(id))
  })

/**
 * Applies what has not been applied yet, each file in a transaction of its own, and tells which. Copies that start
 * together wait for each other, and one of them does the work.
 */
export const applyMigrations = (all: ReadonlyArray<Migration>) =>
  Effect.gen(function* () {
    const session = yield* openSession
    yield* session.run(createTable)
    const pending = yield* pendingOf(all, yield* session.run("select migration_id, name from migrations"))
    return yield* Effect.forEach(pending, (migration) => apply(session, migration))
  }).pipe(Effect.scoped)
