import { Duration, Effect, Schedule } from "effect"
import { openOwnConnection } from "../connection/OwnConnection.ts"

/**
 * Everybody who asks for a table queues behind a statement that waits for it alone, so a migration waits for so long only
 * and then lets them pass. Requests wait ten times as long.
 */
const lockTimeout = Duration.toMillis("200 millis")

/** Autovacuum steps aside for who has waited for a second (`deadlock_timeout`), so some attempts wait longer than that. */
const longLockTimeout = Duration.toMillis("1200 millis")
const attemptsUntilLong = 4

/** Any number that no other user of the database takes for its own lock. */
const lockKey = "7206133517"

/**
 * A connection of its own with the lock that only one migrating process has, until the scope closes. It asks again and
 * again instead of waiting for the lock: a waiting statement has a snapshot, for whose end `create index concurrently`
 * waits, which would be a deadlock of the copies that start together.
 */
export const openSession = Effect.gen(function* () {
  const run = yield* openOwnConnection()
  yield* run(`set lock_timeout = ${lockTimeout}`)
  yield* run(`select pg_try_advisory_lock(${lockKey}) as locked`).pipe(
    Effect.repeat({ until: ([row]) => row?.["locked"] === true, schedule: Schedule.spaced("200 millis") })
  )
  return {
    run,

    /** Says how long the statements of an attempt wait for locks. */
    beginAttempt: (attempt: number) =>
      run(`set lock_timeout = ${attempt % attemptsUntilLong === 0 ? longLockTimeout : lockTimeout}`),

    /** All of it or nothing. The server closes a transaction whose connection is lost. */
    inTransaction: <A, E>(work: Effect.Effect<A, E>) =>
      run("begin").pipe(
        Effect.zipRight(work),
        Effect.zipLeft(run("commit")),
        Effect.tapErrorCause(() => Effect.ignore(run("rollback")))
      ),

    /** For statements that stand in nobody's way however long they wait and work. */
    withoutTimeouts: <A, E>(work: Effect.Effect<A, E>) =>
      Effect.ensuring(
        Effect.zipRight(run("set lock_timeout = 0; set statement_timeout = 0"), work),
        Effect.ignore(run(`set lock_timeout = ${lockTimeout}; reset statement_timeout`))
      )
  }
})

export type Session = Effect.Effect.Success<typeof openSession>
