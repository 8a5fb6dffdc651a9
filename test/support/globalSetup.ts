import { mkdtempSync, readdirSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { Effect, Exit, Scope } from "effect"
import type { TestProject } from "vitest/node"
import { claimDataDir } from "../../src/layers/local/dataDir.ts"
import { startNats } from "../../src/layers/local/nats.ts"
import { natsProgram } from "../../src/layers/local/natsPrograms.ts"
import { startPostgres } from "../../src/layers/local/postgres.ts"
import { endLeftovers } from "./leftovers.ts"

declare module "vitest" {
  export interface ProvidedContext {
    /** Superuser's address of the PostgreSQL server of this test run. */
    databaseUrl: string
    natsUrl: string
  }
}

const prefix = "contracting-test-"

const remove = (folder: string) => Effect.sync(() => rmSync(folder, { recursive: true, force: true }))

/** Ends and removes what a test run that was killed has left behind; a folder still claimed belongs to a running one. */
const sweep = Effect.forEach(
  readdirSync(tmpdir()).filter((name) => name.startsWith(prefix)),
  (name) => {
    const folder = join(tmpdir(), name)
    return endLeftovers(folder).pipe(Effect.zipRight(remove(folder)), Effect.ignore)
  }
)

const servers = Effect.gen(function* () {
  const folder = yield* Effect.acquireRelease(
    Effect.sync(() => mkdtempSync(join(tmpdir(), prefix))),
    remove
  )
  const { logOf } = yield* claimDataDir(folder)
  const postgres = yield* startPostgres({
    folder: join(folder, "postgres"),
    logFile: logOf("postgres"),
    durable: false
  })
  const program = yield* natsProgram(process.env["NATS_SERVER_BIN"])
  const nats = yield* startNats({ folder: join(folder, "nats"), logFile: logOf("nats"), program })
  return { databaseUrl: postgres.url, natsUrl: nats.url }
})

/** One PostgreSQL and one NATS server for the whole run, thrown away afterwards. */
export default async (project: TestProject) => {
  await Effect.runPromise(sweep)
  const scope = Effect.runSync(Scope.make())
  const stop = () => Effect.runPromise(Scope.close(scope, Exit.void))
  try {
    const { databaseUrl, natsUrl } = await Effect.runPromise(Scope.extend(servers, scope))
    project.provide("databaseUrl", databaseUrl)
    project.provide("natsUrl", natsUrl)
  } catch (error) {
    await stop()
    throw error
  }
  return stop
}
