import { totalmem } from "node:os"
import { Data, Effect, Schedule } from "effect"
import pg from "pg"
import { localhost, stablePort } from "../Ports.ts"
import { supervise } from "../process/Supervise.ts"
import { type Cluster, openCluster, superuser } from "./Cluster.ts"
import { embeddedPrograms, type PostgresPrograms } from "./PostgresPrograms.ts"
import { clearTheWay, postgresStop } from "./PostmasterPid.ts"

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
    return `The embedded PostgreSQL does not answer: ${this.reason}`
  }
}

interface Options {
  readonly folder: string
  readonly logFile: string
  /** Off for a cluster that is thrown away anyway: faster, and lost when the machine stops. */
  readonly durable: boolean
  readonly maxConnections?: number | undefined
  /** Other programs than the embedded ones. */
  readonly programs?: PostgresPrograms
}

/** A quarter of the machine's memory, as is usual, but no more than a database that shares a machine should have. */
const sharedMegabytes = Math.floor(Math.min(Math.max(totalmem() / 4, 128 * 2 ** 20), 2 ** 30) / 2 ** 20)

const serverArgs = (
  data: string,
  port: number,
  { durable, maxConnections = 200 }: Pick<Options, "durable" | "maxConnections">
) => {
  const settings = {
    listen_addresses: localhost,
    port,
    unix_socket_directories: "",
    max_connections: maxConnections,
    shared_buffers: `${sharedMegabytes}MB`,
    max_wal_size: "2GB",
    timezone: "UTC",
    log_timezone: "UTC",
    ...(durable ? {} : { fsync: "off", full_page_writes: "off" })
  }
  return ["-D", data, ...Object.entries(settings).flatMap(([name, value]) => ["-c", `${name}=${value}`])]
}

const urlOf = ({ password }: Cluster, port: number, name: string) =>
  `postgres://${superuser}:${password}@${localhost}:${port}/${name}`

const query = (connectionString: string, statement: string) =>
  Effect.tryPromise({
    try: async () => {
      const client = new pg.Client({ connectionString, ssl: false, connectionTimeoutMillis: 5000 })
      // Told twice: by the rejected promise, and by this event, which nobody hearing would end the process.
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

const answers = (cluster: Cluster, port: number) =>
  query(urlOf(cluster, port, database), "SELECT 1").pipe(
    Effect.catchIf(
      ({ code }) => code === missingDatabase,
      () => query(urlOf(cluster, port, "postgres"), `CREATE DATABASE ${database}`)
    ),
    // Long enough for the recovery after a crash of a large database. Any other refusal, such as that of a password
    // which does not fit the cluster, would stay the same for ever.
    Effect.retry({
      while: ({ code }) => code === undefined || code === startingUp,
      schedule: Schedule.spaced("50 millis").pipe(Schedule.upTo("2 minutes"))
    })
  )

/** A PostgreSQL on this machine that lasts as long as the scope and is started again whenever it stops. */
export const startPostgres = ({ durable, folder, logFile, maxConnections, programs }: Options) =>
  Effect.gen(function* () {
    const used = programs ?? (yield* embeddedPrograms)
    const cluster = yield* openCluster({ folder, logFile, durable, programs: used })
    yield* clearTheWay(cluster.data)
    const port = yield* stablePort(cluster.portFile)
    yield* supervise(
      {
        name: "postgres",
        ...cluster.launch(used.postgres, serverArgs(cluster.data, port, { durable, maxConnections })),
        env: used.env,
        logFile,
        stop: postgresStop
      },
      { before: clearTheWay(cluster.data), ready: answers(cluster, port) }
    )
    return { url: urlOf(cluster, port, database), port, version: used.version } satisfies LocalPostgres
  })
