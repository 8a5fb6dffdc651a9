import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { NodeRuntime } from "@effect/platform-node"
import { Deferred, Effect, Exit, Runtime, Schedule, Schema, Scope } from "effect"
import { findNatsProgram } from "../../../src/layers/local/nats/NatsPrograms.ts"
import { startNats } from "../../../src/layers/local/nats/NatsServer.ts"
import { startPostgres } from "../../../src/layers/local/postgres/Postgres.ts"
import { exitWithParent } from "../../../src/layers/local/process/ParentWatch.ts"
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

const servers = Effect.gen(function* () {
  yield* exitWithParent
  const folder = yield* temporaryFolder
  const store = join(folder, "nats")
  const data = join(folder, "postgres")
  const program = yield* findNatsProgram(process.env["NATS_SERVER_BIN"])
  const postgres = yield* makeKillable(
    startPostgres({ folder: data, logFile: join(folder, "postgres.log"), durable: true }),
    join(data, "data", "postmaster.pid")
  )
  const nats = yield* makeKillable(
    startNats({ folder: store, logFile: join(folder, "nats.log"), program }),
    join(store, "nats-server.pid")
  )
  const addresses = { databaseUrl: (yield* postgres.start).url, natsUrl: (yield* nats.start).url }

  const execute = ({ downMillis, id, kill }: Command) =>
    Effect.gen(function* () {
      const server = kill === "postgres" ? postgres : nats
      yield* server.kill
      if (kill === "natsWithItsData") deleteNatsData(store)
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
