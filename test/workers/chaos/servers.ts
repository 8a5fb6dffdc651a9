import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { dirname, join } from "node:path"
import * as NodeRuntime from "@effect/platform-node/NodeRuntime"
import { Deferred, Effect, Exit, Runtime, Schedule, Schema, Scope } from "effect"
import { exitWithParent } from "../../../src/commands/ParentWatch.ts"
import { prepareNatsCluster } from "../../../tools/drills/natsCluster.ts"
import { findNatsProgram, type NatsProgram } from "../../../tools/local/nats/NatsPrograms.ts"
import { startNats } from "../../../tools/local/nats/NatsServer.ts"
import { startPostgres } from "../../../tools/local/postgres/Postgres.ts"
import { startPgBouncer } from "../../support/servers/pgbouncer.ts"
import { Command } from "./serversProtocol.ts"

const temporaryFolder = Effect.acquireRelease(
  Effect.sync(() => mkdtempSync(join(tmpdir(), "contracting-killed-"))),
  (folder) => Effect.sync(() => rmSync(folder, { recursive: true, force: true }))
)

/** A server that can be killed and started again on the data it left. */
const makeKillable = <A, E>(start: Effect.Effect<A, E, Scope.Scope>, pidFile: string) =>
  Effect.gen(function* () {
    let scope = yield* Scope.make()
    yield* Effect.addFinalizer(() => Effect.suspend(() => Scope.close(scope, Exit.void)))

    const startServer = Effect.gen(function* () {
      scope = yield* Scope.make()
      return yield* Scope.extend(start, scope).pipe(
        Effect.tapErrorCause((cause) => Scope.close(scope, Exit.failCause(cause)))
      )
    }).pipe(
      // PostgreSQL does not start before the last session of the killed server has exited.
      Effect.retry(Schedule.spaced("200 millis").pipe(Schedule.upTo("1 minute")))
    )

    /** Also closes the scope, whose supervisor would start the server again. */
    const kill = Effect.suspend(() => {
      process.kill(Number.parseInt(readFileSync(pidFile, "utf8"), 10), "SIGKILL")
      return Scope.close(scope, Exit.void)
    })
    return { start: startServer, kill }
  })

/** Deletes all data of NATS except its port. */
const deleteNatsData = (store: string) => {
  const port = readFileSync(join(store, "port"))
  rmSync(store, { recursive: true })
  mkdirSync(store, { mode: 0o700 })
  writeFileSync(join(store, "port"), port)
}

const singleNode = (folder: string, program: NatsProgram) => {
  const store = join(folder, "nats")
  const start = startNats({ folder: store, logFile: join(folder, "nats.log"), program })
  return Effect.map(makeKillable(start, join(store, "nats-server.pid")), (node) => [{ ...node, store }])
}

/** Three servers, of which one at a time is killed, in turn. */
const clusterNodes = (folder: string, program: NatsProgram) =>
  Effect.flatMap(prepareNatsCluster(join(folder, "nats"), program), (nodes) =>
    Effect.forEach(nodes, ({ pidFile, start }) =>
      Effect.map(makeKillable(start, pidFile), (node) => ({ ...node, store: dirname(pidFile) }))
    )
  )

const startPooler = (folder: string, databaseUrl: string) =>
  startPgBouncer({ folder, databaseUrl, preparedStatements: 200 })

const { CHAOS_CLUSTER, CHAOS_PGBOUNCER } = process.env

const servers = Effect.gen(function* () {
  yield* exitWithParent
  const folder = yield* temporaryFolder
  const data = join(folder, "postgres")
  const program = yield* findNatsProgram(process.env["NATS_SERVER_BIN"])
  const postgres = yield* makeKillable(
    startPostgres({ folder: data, logFile: join(folder, "postgres.log"), durable: true }),
    join(data, "data", "postmaster.pid")
  )
  const nodes = yield* CHAOS_CLUSTER === undefined ? singleNode(folder, program) : clusterNodes(folder, program)
  const databaseUrl = (yield* postgres.start).url
  const started = yield* Effect.forEach(nodes, ({ start }) => start, { concurrency: "unbounded" })
  const pooledUrl =
    CHAOS_PGBOUNCER === undefined ? databaseUrl : (yield* startPooler(join(folder, "pgbouncer"), databaseUrl)).url
  const addresses = { databaseUrl, pooledUrl, natsUrl: started.map(({ url }) => url).join(",") }
  let natsKills = 0

  const execute = ({ downMillis, id, kill }: Command) =>
    Effect.gen(function* () {
      const node = nodes[natsKills++ % nodes.length] ?? (yield* Effect.dieMessage("There is no NATS server"))
      const server = kill === "postgres" ? postgres : node
      yield* server.kill
      if (kill === "natsWithItsData") deleteNatsData(node.store)
      yield* Effect.sleep(downMillis)
      yield* server.start
      process.send?.({ done: id })
    })

  // A failure ends this process through its finalizers, which clean up.
  const failed = yield* Deferred.make<never, unknown>()
  const run = Runtime.runPromise(yield* Effect.runtime())
  process.on("message", (message) => {
    void run(
      Effect.catchAllCause(execute(Schema.decodeUnknownSync(Command)(message)), (cause) =>
        Deferred.failCause(failed, cause)
      )
    )
  })
  process.send?.(addresses)
  return yield* Deferred.await(failed)
})

NodeRuntime.runMain(Effect.scoped(servers))
