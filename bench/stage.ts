import { mkdtempSync, readdirSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { Data, Effect } from "effect"
import { describe, run } from "../src/layers/local/child.ts"
import { claimDataDir } from "../src/layers/local/dataDir.ts"
import { lastLines } from "../src/layers/local/logFile.ts"
import { startNats } from "../src/layers/local/nats.ts"
import { natsProgram } from "../src/layers/local/natsPrograms.ts"
import { startPostgres } from "../src/layers/local/postgres.ts"
import { projectRoot } from "../src/layers/local/projectRoot.ts"
import { endLeftovers } from "../test/support/leftovers.ts"
import { durability, seed } from "./seed.ts"

export const service = join(projectRoot, "dist", "main.js")

export class StageFailed extends Data.TaggedError("StageFailed")<{ readonly message: string }> {}

const prefix = "contracting-bench-"

const remove = (folder: string) => Effect.sync(() => rmSync(folder, { recursive: true, force: true }))

/** Ends and removes what a killed bench has left behind; a folder still claimed belongs to a running one. */
const sweep = Effect.forEach(
  readdirSync(tmpdir()).filter((name) => name.startsWith(prefix)),
  (name) => {
    const folder = join(tmpdir(), name)
    return endLeftovers(folder).pipe(Effect.zipRight(remove(folder)), Effect.ignore)
  }
)

const migrate = (databaseUrl: string, logFile: string) =>
  run({
    name: "migrate",
    command: process.execPath,
    args: [service, "migrate"],
    env: { DATABASE_URL: databaseUrl },
    logFile,
    stop: [["SIGTERM", "10 seconds"]]
  }).pipe(
    Effect.filterOrFail(
      ({ code }) => code === 0,
      (ended) => new StageFailed({ message: `Migration: ${describe(ended)}\n${lastLines(logFile)}` })
    )
  )

/** Everything the servers share: a durable PostgreSQL with data in it and a NATS server, thrown away afterwards. */
export const setStage = Effect.gen(function* () {
  yield* sweep
  const folder = yield* Effect.acquireRelease(
    Effect.sync(() => mkdtempSync(join(tmpdir(), prefix))),
    remove
  )
  const { logOf } = yield* claimDataDir(folder)
  const postgres = yield* startPostgres({
    folder: join(folder, "postgres"),
    logFile: logOf("postgres"),
    durable: true
  })
  const program = yield* natsProgram(process.env["NATS_SERVER_BIN"])
  const nats = yield* startNats({ folder: join(folder, "nats"), logFile: logOf("nats"), program })
  yield* migrate(postgres.url, logOf("migrate"))
  yield* seed(postgres.url)
  return {
    folder,
    logOf,
    databaseUrl: postgres.url,
    natsUrl: nats.url,
    postgres: `PostgreSQL ${postgres.version} (${yield* durability(postgres.url)})`
  }
})

export type Stage = Effect.Effect.Success<typeof setStage>
