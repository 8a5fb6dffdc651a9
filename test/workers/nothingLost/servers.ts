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

/** A server that can be killed, and started again on what it left. */
const killable = <A, E>(start: Effect.Effect<A, E, Scope.Scope>, pidFile: string) =>
  Effect.gen(function* () {
    let life = yield* Scope.make()
    yield* Effect.addFinalizer(() => Effect.suspend(() => Scope.close(life, Exit.void)))

    const begin = Effect.gen(function* () {
      life = yield* Scope.make()
      return yield* Scope.extend(start, life).pipe(
        Effect.tapErrorCause((cause) => Scope.close(life, Exit.failCause(cause)))
      )
    }).pipe(
      // PostgreSQL does not start before the last session of its forerunner has noticed that it is gone.
      Effect.retry(Schedule.spaced("200 millis").pipe(Schedule.upTo("1 minute")))
    )

    /** Its keeper is told to stop in the same instant, so that nobody else starts it again. */
    const kill = Effect.suspend(() => {
      process.kill(Number.parseInt(readFileSync(pidFile, "utf8"), 10), "SIGKILL")
      return Scope.close(life, Exit.void)
    })
    return { begin, kill }
  })

/** Throws away all that NATS ever stored; only its port stays the same. */
const empty = (store: string) => {
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
  const postgres = yield* killable(
    startPostgres({ folder: data, logFile: join(folder, "postgres.log"), durable: true }),
    join(data, "data", "postmaster.pid")
  )
  const nats = yield* killable(
    startNats({ folder: store, logFile: join(folder, "nats.log"), program }),
    join(store, "nats-server.pid")
  )
  const addresses = { databaseUrl: (yield* postgres.begin).url, natsUrl: (yield* nats.begin).url }

  const obey = ({ downMillis, kill, order }: Command) =>
    Effect.gen(function* () {
      const server = kill === "postgres" ? postgres : nats
      yield* server.kill
      if (kill === "natsWithItsData") empty(store)
      yield* Effect.sleep(downMillis)
      yield* server.begin
      process.send?.({ done: order })
    })

  // What goes wrong ends this process, in the order that leaves nothing behind.
  const broken = yield* Deferred.make<never, unknown>()
  const run = Runtime.runPromise(yield* Effect.runtime())
  process.on("message", (message) => {
    void run(
      Effect.catchAllCause(obey(Schema.decodeUnknownSync(Command)(message)), (cause) =>
        Deferred.failCause(broken, cause)
      )
    )
  })
  process.send?.(addresses)
  return yield* Deferred.await(broken)
})

NodeRuntime.runMain(Effect.scoped(servers))
