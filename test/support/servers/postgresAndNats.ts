import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { NodeRuntime } from "@effect/platform-node"
import { Console, Effect } from "effect"
import { findNatsProgram } from "../../../src/layers/local/nats/NatsPrograms.ts"
import { startNats } from "../../../src/layers/local/nats/NatsServer.ts"
import { startPostgres } from "../../../src/layers/local/postgres/Postgres.ts"
import { exitWithParent } from "../../../src/layers/local/process/ParentWatch.ts"

const temporaryFolder = Effect.acquireRelease(
  Effect.sync(() => mkdtempSync(join(tmpdir(), "contracting-test-"))),
  (folder) => Effect.sync(() => rmSync(folder, { recursive: true, force: true }))
)

/** The temporary servers of a test run, in a process of their own that cleans up even if the run is killed. */
const servers = Effect.gen(function* () {
  yield* exitWithParent
  const folder = yield* temporaryFolder
  const logOf = (name: string) => join(folder, `${name}.log`)
  const postgres = yield* startPostgres({
    folder: join(folder, "postgres"),
    logFile: logOf("postgres"),
    durable: false
  })
  const program = yield* findNatsProgram(process.env["NATS_SERVER_BIN"])
  const nats = yield* startNats({ folder: join(folder, "nats"), logFile: logOf("nats"), program })
  yield* Console.log(JSON.stringify({ databaseUrl: postgres.url, natsUrl: nats.url }))
  return yield* Effect.never
})

NodeRuntime.runMain(Effect.scoped(servers))
