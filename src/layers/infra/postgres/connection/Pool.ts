import { Duration, Effect, Redacted, Runtime } from "effect"
import pg from "pg"
import { type FairQueueLimits, FairQueues } from "../../concurrency/FairQueues.ts"
import type { Permit } from "../../concurrency/KeyQueue.ts"
import { splitDatabaseUrl } from "../../config/DatabaseUrl.ts"
import { Settings, SettingsError } from "../../config/Settings.ts"
import { type ConnectionFailure, ConnectionMetrics } from "../../telemetry/ConnectionMetrics.ts"
import { makeOutageLog } from "../../telemetry/OutageLog.ts"
import { makeStatementNames, type StatementNames } from "./PreparedQuery.ts"
import { makePrimaryServer } from "./PrimaryServer.ts"
import { sessionSettings, setSession } from "./SessionSettings.ts"
import { errorCodeOf, isUnreachable, noConnectionInTime } from "./TransientErrors.ts"
import { typeParsers } from "./Values.ts"

const maxPlanAgeMillis = 5000

const plannedAt = new WeakMap<pg.ClientBase, number>()

/**
 * A prepared statement keeps its plan until PostgreSQL analyzes one of its tables. So do foreign key checks. Queue
 * tables grow from empty to thousands of rows before that, and a sequential scan that suited an empty table is then far too
 * slow. A new plan sees the current table sizes.
 */
const refreshPlans = (client: pg.ClientBase) => {
  const now = performance.now()
  const last = plannedAt.get(client) ?? now
  if (last === now || now - last > maxPlanAgeMillis) plannedAt.set(client, now)
  // The driver sends this before the next statement, which reports a broken connection.
  if (now - last > maxPlanAgeMillis) client.query("discard plans", () => {})
}

/** The options of every connection, inside and outside of the pool. */
export const connectionOptions = {
  application_name: "contracting",
  types: typeParsers,
  // A firewall may drop idle connections silently; the next statement would then run into its timeout.
  keepAlive: true,
  keepAliveInitialDelayMillis: Duration.toMillis("30 seconds"),
  connectionTimeoutMillis: Duration.toMillis("5 seconds")
} satisfies pg.ClientConfig

/** The servers of DATABASE_URL, or of DATABASE_DIRECT_URL for what needs a session of its own. */
export const primaryServer = (kind: "pooled" | "direct") =>
  Effect.gen(function* () {
    const { DATABASE_DIRECT_URL, DATABASE_URL } = yield* Settings
    const given = kind === "direct" ? (DATABASE_DIRECT_URL ?? DATABASE_URL) : DATABASE_URL
    if (given === undefined) {
      return yield* new SettingsError({
        errors: ["DATABASE_URL is required by this process (npm start runs a database of its own)"]
      })
    }
    const [first = "", ...others] = splitDatabaseUrl(Redacted.value(given))
    const primary = makePrimaryServer([first, ...others])
    yield* Effect.promise(primary.findAgain)
    return primary
  })

/** Client-side timeout, for a server that is unreachable and cannot enforce its own timeouts. */
const queryTimeoutMs = Duration.toMillis("17 seconds")

/** Reconnecting follows a changed DNS record of the database. */
const maxLifetimeSeconds = Duration.toSeconds("30 minutes")

const failureOf = (cause: unknown): ConnectionFailure => {
  if (isUnreachable(cause)) return "UNREACHABLE"
  const code = errorCodeOf(cause)
  if (code.startsWith("28")) return "AUTHENTICATION"
  if (/^[0-9A-Z]{5}$/.test(code)) return "REJECTED"
  if (/^(ERR_TLS|CERT|DEPTH|SELF_SIGNED|UNABLE_TO)/.test(code)) return "ENCRYPTION"
  return cause instanceof Error && cause.message.includes("timeout") ? "TIMEOUT" : "OTHER"
}

export type Release = (isBroken: boolean) => void

/** Returns a connection, or the error for which there is none. */
export type Acquired = (error: Error | undefined, client: pg.ClientBase | undefined, release: Release) => void

export interface ConnectionPool {
  /** Takes a connection in the share of `keys`, and waits for a free one if need be. */
  readonly acquire: (keys: ReadonlyArray<string>, done: Acquired) => void
  readonly statementNames: StatementNames
}

const nothing: Release = () => {}

/** A connection outside of the pool of the driver. */
interface Loan {
  readonly client: pg.ClientBase
  readonly takenAt: number
  readonly release: Release
}

/**
 * Work that waits gets the connection of the work before it. Giving it back to the pool and taking it again costs more than
 * reading a row, so that only happens after this time: there the pool ends connections that are too old.
 */
const maxLoanMillis = 1000

/**
 * The most connections of one key: slow statements of one caller leave connections to the other callers of its tenant, and
 * all of these to other tenants.
 */
export const connectionShares = (connections: number) => ({
  permits: connections,
  maxPerKey: Math.max(1, Math.floor(connections * 0.8)),
  maxPerSlowKey: Math.max(1, Math.floor(connections * 0.3)),
  maxPerGroup: Math.max(1, connections - 1)
})

const shareLimits = (connections: number): FairQueueLimits => ({
  ...connectionShares(connections),
  // Only admitted requests wait for a connection.
  maxQueuedPerKey: Number.POSITIVE_INFINITY,
  maxQueued: Number.POSITIVE_INFINITY
})

/** A pool of connections to the server that accepts writes, which keys share fairly by number and by time. */
export const makePool = Effect.fnUntraced(function* (maxConnections: number) {
  const primary = yield* primaryServer("pooled")
  const statementNames = makeStatementNames((yield* Settings).DATABASE_STATEMENTS)
  const metrics = yield* ConnectionMetrics
  const log = Runtime.runFork(yield* Effect.runtime())
  const outage = makeOutageLog("PostgreSQL is not available; retrying", "Connected to PostgreSQL")

  class PrimaryClient extends pg.Client {
    constructor(options?: pg.ClientConfig) {
      super({ ...options, connectionString: primary.url() })
    }
  }
  const pool = new pg.Pool({
    ...connectionOptions,
    Client: PrimaryClient,
    onConnect: (client) => client.query(setSession(sessionSettings)),
    query_timeout: queryTimeoutMs,
    max: maxConnections,
    idleTimeoutMillis: 0,
    maxLifetimeSeconds
  })
  // The pool drops a broken connection at its next use. Without listeners, the error event would end the process.
  pool.on("error", () => {})
  pool.on("connect", (client) => client.on("error", () => {}))
  yield* Effect.addFinalizer(() =>
    Effect.promise(() => pool.end()).pipe(Effect.disconnect, Effect.timeoutOption("5 seconds"))
  )

  const report = (error: Error) => {
    metrics.countFailure("postgres", failureOf(error))
    log(outage.onFailure(error))
  }

  const take = (done: (loan: Loan) => void, onFailure: (error: Error) => void) => {
    pool.connect((error, client, release) => {
      if (client === undefined) return onFailure(error ?? new Error("The pool returned no connection"))
      if (outage.isOpen()) log(outage.onSuccess)
      done({ client, takenAt: performance.now(), release })
    })
  }

  const takeFromAny = (done: (loan: Loan) => void, onFailure: (error: Error) => void) => {
    const fail = (error: Error) => {
      report(error)
      onFailure(error)
    }
    take(done, (error) => {
      if (!primary.hasOthers) return fail(error)
      void primary.findAgain().then(() => take(done, fail))
    })
  }

  const shares = new FairQueues(shareLimits(maxConnections))

  /** What the work whose permit ends leaves to the work that gets this permit. */
  let left: Loan | undefined

  const endLoan = (loan: Loan, permit: Permit, isBroken: boolean) => {
    // The server may have become a standby.
    if (isBroken) void primary.findAgain()
    if (isBroken || performance.now() - loan.takenAt > maxLoanMillis) {
      loan.release(isBroken)
      return shares.release(permit)
    }
    left = loan
    shares.release(permit)
    if (left === undefined) return
    left = undefined
    loan.release(false)
  }

  const takeWith = (permit: Permit, since: number, done: Acquired) => {
    const use = (loan: Loan) => {
      metrics.observePoolWait(performance.now() - since)
      refreshPlans(loan.client)
      done(undefined, loan.client, (isBroken) => endLoan(loan, permit, isBroken))
    }
    const loan = left
    left = undefined
    if (loan !== undefined) return use(loan)
    takeFromAny(use, (error) => {
      metrics.observePoolWait(performance.now() - since)
      shares.release(permit)
      done(error, undefined, nothing)
    })
  }

  const acquire = (keys: ReadonlyArray<string>, done: Acquired) => {
    const since = performance.now()
    const permit = shares.tryTake(keys)
    if (permit !== undefined) return takeWith(permit, since, done)
    const ticket = shares.enqueue(keys, connectionOptions.connectionTimeoutMillis)
    ticket.resume = (rejection) => {
      if (rejection === undefined) return takeWith(ticket, since, done)
      metrics.observePoolWait(performance.now() - since)
      done(new Error(noConnectionInTime), undefined, nothing)
    }
  }
  return { acquire, statementNames } satisfies ConnectionPool
})
