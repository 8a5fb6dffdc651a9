import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import * as NodeRuntime from "@effect/platform-node/NodeRuntime"
import { Console, Effect } from "effect"
import { exitWithParent } from "../../../src/commands/ParentWatch.ts"
import { killInTurn, prepareNatsCluster } from "../../../tools/drills/natsCluster.ts"
import { findNatsProgram } from "../../../tools/local/nats/NatsPrograms.ts"
import { startNats } from "../../../tools/local/nats/NatsServer.ts"
import { startPostgres } from "../../../tools/local/postgres/Postgres.ts"
import { startPgBouncer } from "./pgbouncer.ts"

const temporaryFolder = Effect.acquireRelease(
  Effect.sync(() => mkdtempSync(join(tmpdir(), "contracting-test-"))),
  (folder) => Effect.sync(() => rmSync(folder, { recursive: true, force: true }))
)

const startSingle = (folder: string) =>
  Effect.gen(function* () {
    const program = yield* findNatsProgram(process.env["NATS_SERVER_BIN"])
    const { url } = yield* startNats({ folder: join(folder, "nats"), logFile: join(folder, "nats.log"), program })
    return url
  })

/** Long enough for a killed server to catch up before the next kill, and for its supervisor to restart it at once. */
const killIntervalMs = 12_000

/** Three servers, of which one at a time is killed. */
const startCluster = (folder: string) =>
  Effect.gen(function* () {
    const program = yield* findNatsProgram(process.env["NATS_SERVER_BIN"])
    const nodes = yield* prepareNatsCluster(join(folder, "cluster"), program)
    const started = yield* Effect.forEach(nodes, ({ start }) => start, { concurrency: "unbounded" })
    const kills = killInTurn(
      nodes.map(({ pidFile }) => pidFile),
      killIntervalMs
    )
    yield* Effect.forkScoped(kills)
    return started.map(({ url }) => url).join(",")
  })

/** For hundreds of small databases that live for seconds: dropping one looks at every buffer, and nothing needs a vacuum. */
const settings = { shared_buffers: "128MB", autovacuum: "off" }

const startPooler = (folder: string, databaseUrl: string) =>
  Effect.map(startPgBouncer({ folder, databaseUrl, preparedStatements: 200 }), ({ url }) => url)

/** The temporary servers of a test run, in a process of their own that cleans up even if the run is killed. */
const servers = Effect.gen(function* () {
  yield* exitWithParent
  const folder = yield* temporaryFolder
  const logOf = (name: string) => join(folder, `${name}.log`)
  const postgres = yield* startPostgres({
    folder: join(folder, "postgres"),
    logFile: logOf("postgres"),
    durable: false,
    settings
  })
  const { TEST_NATS_CLUSTER, TEST_PGBOUNCER } = process.env
  const natsUrl = yield* TEST_NATS_CLUSTER === undefined ? startSingle(folder) : startCluster(folder)
  const pooledUrl =
    TEST_PGBOUNCER === undefined ? postgres.url : yield* startPooler(join(folder, "pgbouncer"), postgres.url)
  yield* Console.log(JSON.stringify({ databaseUrl: postgres.url, pooledUrl, natsUrl }))
  return yield* Effect.never
})

NodeRuntime.runMain(Effect.scoped(servers))
