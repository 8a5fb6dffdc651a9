import { existsSync, readFileSync, writeFileSync } from "node:fs"
import { totalmem } from "node:os"
import { join } from "node:path"
import { Data, Effect, Schedule } from "effect"
import pg from "pg"
import { tryFileAccess } from "../FileAccess.ts"
import { chooseStablePort, localhost } from "../Ports.ts"
import { stopOrphan } from "../process/OrphanProcess.ts"
import { supervise } from "../process/Supervisor.ts"
import { type Cluster, openCluster, superuser } from "./Cluster.ts"
import { embeddedPrograms, type PostgresPrograms } from "./PostgresPrograms.ts"

/** Fast shutdown, which aborts the sessions; then immediate shutdown, which needs crash recovery at the next start. */
export const postgresStopSignals = [
  ["SIGINT", "20 seconds"],
  ["SIGQUIT", "5 seconds"]
] as const

/**
 * Prepares a data folder whose last server was killed. It stops a server that is still running. PostgreSQL refuses to
 * start when the pid in postmaster.pid belongs to another process by now, so our pid replaces it: PostgreSQL treats its
 * parent's pid as stale. Do not remove the file instead: that skips the check for surviving backends of the old server.
 */
export const stopOrphanedPostgres = (data: string) =>
  Effect.gen(function* () {
    const file = join(data, "postmaster.pid")
    const read = () => (existsSync(file) ? readFileSync(file, "utf8").split("\n") : [])
    const pid = Number.parseInt((yield* tryFileAccess(file, read))[0] ?? "", 10)
    if (Number.isNaN(pid)) return
    yield* stopOrphan({ name: "PostgreSQL", pid, mark: `postgres -D ${data}`, stop: postgresStopSignals })
    yield* tryFileAccess(file, () => {
      const [first, ...rest] = read()
      if (first !== undefined) writeFileSync(file, [process.pid, ...rest].join("\n"))
    })
  })

const database = "contracting"

export interface LocalPostgres {
  readonly url: string
  readonly port: number
  readonly version: string
}

export class DatabaseNotReady extends Data.TaggedError("DatabaseNotReady")<{
  readonly reason: string
  readonly code: string | undefined
}> {
  override get message() {
    return `The embedded PostgreSQL does not respond: ${this.reason}`
  }
}

interface Options {
  readonly folder: string
  readonly logFile: string
  /** False for a temporary cluster: faster, but a crash of the machine loses it. */
  readonly durable: boolean
  readonly maxConnections?: number | undefined
  /** Further settings of the server. */
  readonly settings?: Readonly<Record<string, string>>
  /** Default: the embedded programs. */
  readonly programs?: PostgresPrograms
}

/** A quarter of the memory, as PostgreSQL's documentation recommends, between 128 MB and 1 GB. */
const sharedBuffersMegabytes = Math.floor(Math.min(Math.max(totalmem() / 4, 128 * 2 ** 20), 2 ** 30) / 2 ** 20)

const serverArgs = (
  data: string,
  port: number,
  { durable, maxConnections = 200, settings: others = {} }: Pick<Options, "durable" | "maxConnections" | "settings">
) => {
  const settings = {
    listen_addresses: localhost,
    port,
    unix_socket_directories: "",
    max_connections: maxConnections,
    shared_buffers: `${sharedBuffersMegabytes}MB`,
    max_wal_size: "2GB",
    timezone: "UTC",
    log_timezone: "UTC",
    ...(durable ? {} : { fsync: "off", full_page_writes: "off" }),
    ...others
  }
  return ["-D", data, ...Object.entries(settings).flatMap(([name, value]) => ["-c", `${name}=${value}`])]
}

const urlOf = ({ password }: Cluster, port: number, name: string) =>
  `postgres://${superuser}:${password}@${localhost}:${port}/${name}`

const query = (connectionString: string, statement: string) =>
  Effect.tryPromise({
    try: async () => {
      const client = new pg.Client({ connectionString, ssl: false, connectionTimeoutMillis: 5000 })
      // Errors also reject the promise. Without a listener this event would end the process.
      client.on("error", () => {})
      try {
        await client.connect()
        await client.query(statement)
      } finally {
        await client.end()
      }
    },
    catch: (cause) =>
      new DatabaseNotReady({
        reason: cause instanceof Error ? cause.message : String(cause),
        code: cause instanceof pg.DatabaseError ? cause.code : undefined
      })
  })

const missingDatabase = "3D000"
const startingUp = "57P03"

const waitUntilReady = (cluster: Cluster, port: number) =>
  query(urlOf(cluster, port, database), "SELECT 1").pipe(
    Effect.catchIf(
      ({ code }) => code === missingDatabase,
      () => query(urlOf(cluster, port, "postgres"), `CREATE DATABASE ${database}`)
    ),
    // The timeout covers the crash recovery of a large database. Other errors, such as a wrong password, are permanent.
    Effect.retry({
      while: ({ code }) => code === undefined || code === startingUp,
      schedule: Schedule.spaced("50 millis").pipe(Schedule.upTo("2 minutes"))
    })
  )

/** Runs a local PostgreSQL server until the scope closes, and restarts it when it stops. */
export const startPostgres = ({ durable, folder, logFile, maxConnections, programs, settings = {} }: Options) =>
  Effect.gen(function* () {
    const used = programs ?? (yield* embeddedPrograms)
    const cluster = yield* openCluster({ folder, logFile, durable, programs: used })
    yield* stopOrphanedPostgres(cluster.data)
    const port = yield* chooseStablePort(cluster.portFile)
    yield* supervise(
      {
        name: "postgres",
        ...cluster.launch(used.postgres, serverArgs(cluster.data, port, { durable, maxConnections, settings })),
        env: used.env,
        logFile,
        stop: postgresStopSignals
      },
      { before: stopOrphanedPostgres(cluster.data), ready: waitUntilReady(cluster, port) }
    )
    return { url: urlOf(cluster, port, database), port, version: used.version } satisfies LocalPostgres
  })
