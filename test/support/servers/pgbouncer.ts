import { chmodSync, chownSync, mkdirSync, writeFileSync } from "node:fs"
import { dirname, join } from "node:path"
import { Effect, Schedule } from "effect"
import pg from "pg"
import { installPgBouncer } from "../../../scripts/pgbouncer.mjs"
import { chooseStablePort, localhost } from "../../../tools/local/Ports.ts"
import { isRoot, unprivilegedAccount } from "../../../tools/local/postgres/Account.ts"
import { supervise } from "../../../tools/local/process/Supervisor.ts"

interface Options {
  /** A folder for its files, in a temporary folder. */
  readonly folder: string
  /** The server behind it, with its user and password. */
  readonly databaseUrl: string
  /** How many named statements each client keeps. 0 as in versions before 1.21, which know none. */
  readonly preparedStatements: number
}

const configOf = (databaseUrl: URL, port: number, folder: string, preparedStatements: number) => `[databases]
* = host=${databaseUrl.hostname} port=${databaseUrl.port}

[pgbouncer]
listen_addr = ${localhost}
listen_port = ${port}
unix_socket_dir =
auth_type = trust
auth_file = ${join(folder, "users.txt")}
pool_mode = transaction
default_pool_size = 8
max_client_conn = 5000
max_prepared_statements = ${preparedStatements}
`

/** Runs PgBouncer in transaction mode in front of a server, for all of its databases, until the scope closes. */
export const startPgBouncer = ({ databaseUrl, folder, preparedStatements }: Options) =>
  Effect.gen(function* () {
    const { args, command } = yield* Effect.sync(installPgBouncer)
    mkdirSync(folder, { recursive: true })
    const port = yield* chooseStablePort(join(folder, "port"))
    const server = new URL(databaseUrl)
    const configFile = join(folder, "pgbouncer.ini")
    writeFileSync(configFile, configOf(server, port, folder, preparedStatements))
    const [user, password] = [decodeURIComponent(server.username), decodeURIComponent(server.password)]
    writeFileSync(join(folder, "users.txt"), `"${user}" "${password}"\n`)
    // It refuses to run as root.
    const account = isRoot ? yield* unprivilegedAccount : undefined
    if (account !== undefined) {
      chownSync(folder, account.uid, account.gid)
      // Temporary folders belong to root alone.
      chmodSync(dirname(folder), 0o711)
    }
    const url = new URL(databaseUrl)
    url.port = String(port)
    const ready = Effect.tryPromise(async () => {
      const client = new pg.Client({ connectionString: url.href })
      client.on("error", () => {})
      await client.connect()
      await client.end()
    }).pipe(Effect.retry(Schedule.spaced("50 millis").pipe(Schedule.upTo("30 seconds"))))
    yield* supervise(
      {
        name: "pgbouncer",
        command,
        args: [...args, configFile],
        env: process.env,
        logFile: join(folder, "log"),
        stop: [["SIGTERM", "5 seconds"]],
        account
      },
      { ready }
    )
    return { url: url.href }
  })
