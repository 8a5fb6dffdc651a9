import { Duration, Effect, Schedule } from "effect"
import { openDedicatedConnection } from "../connection/DedicatedConnection.ts"

/**
 * Every statement on a table queues behind one that waits for an exclusive lock on it. A migration therefore gives up
 * soon and lets them pass. The lock timeout of requests is ten times as long.
 */
const lockTimeoutMs = Duration.toMillis("200 millis")

/** Autovacuum yields to a statement that has waited for `deadlock_timeout`, one second. */
const longLockTimeoutMs = Duration.toMillis("1200 millis")

/** Key of the advisory lock: any number that is not used elsewhere in the database. */
const advisoryLockKey = "7206133517"

/**
 * Opens a dedicated connection that owns the advisory lock of migrations until the scope closes. It polls instead of
 * blocking: a blocked statement has a snapshot, and `create index concurrently` in the process with the lock waits for all
 * snapshots to end, which would be a deadlock.
 */
export const openMigrationSession = Effect.gen(function* () {
  const run = yield* openDedicatedConnection()
  yield* run(`set lock_timeout = ${lockTimeoutMs}`)
  yield* run(`select pg_try_advisory_lock(${advisoryLockKey}) as locked`).pipe(
    Effect.repeat({ until: ([row]) => row?.["locked"] === true, schedule: Schedule.spaced("200 millis") })
  )
  return {
    run,

    /**
     * Waits for a table long enough that autovacuum yields. Holds no other lock meanwhile, so that no request that has
     * the table and needs another one deadlocks with it.
     */
    interruptAutovacuum: (table: string) =>
      run(
        `begin; set local lock_timeout = ${longLockTimeoutMs}; lock table ${table} in access exclusive mode; commit`
      ).pipe(Effect.catchAll(() => run("rollback"))),

    /** The server rolls back a transaction whose connection is lost. */
    inTransaction: <A, E>(work: Effect.Effect<A, E>) =>
      run("begin").pipe(
        Effect.zipRight(work),
        Effect.zipLeft(run("commit")),
        Effect.tapErrorCause(() => Effect.ignore(run("rollback")))
      ),

    /** For statements that block no others, however long they wait and run. */
    withoutTimeouts: <A, E>(work: Effect.Effect<A, E>) =>
      Effect.ensuring(
        Effect.zipRight(run("set lock_timeout = 0; set statement_timeout = 0"), work),
        Effect.ignore(run(`set lock_timeout = ${lockTimeoutMs}; reset statement_timeout`))
      )
  }
})

export type MigrationSession = Effect.Effect.Success<typeof openMigrationSession>
