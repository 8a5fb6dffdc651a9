import { type ChildProcess, spawn } from "node:child_process"
import { join } from "node:path"
import { Effect } from "effect"
import { assert } from "vitest"
import { supervisedFlag } from "../../../src/commands/ParentWatch.ts"
import { chooseStablePort } from "../../../tools/local/Ports.ts"
import { projectRoot } from "../../../tools/local/ProjectRoot.ts"
import { temporaryFolder, until } from "../../tools/local/temporary.ts"
import { stopOrphans } from "./orphans.ts"

/** A process that runs the up command. */
export interface Instance {
  readonly process: ChildProcess
  readonly output: () => string
  /** Its exit code, or null after a signal. */
  readonly ended: Effect.Effect<number | null>
}

const { DATABASE_URL: _database, NATS_URL: _nats, ...environment } = process.env

export const dataFolderOf = (folder: string) => join(folder, "data")

export const launch = (folder: string, port: number, settings: Readonly<Record<string, string>> = {}) =>
  Effect.acquireRelease(
    Effect.sync((): Instance => {
      const child = spawn(process.execPath, [join(projectRoot, "dist", "local.js")], {
        // The child ends with the test process, also when that is killed.
        env: {
          ...environment,
          ...settings,
          NODE_ENV: "development",
          DATA_DIR: dataFolderOf(folder),
          PORT: String(port),
          [supervisedFlag]: "1"
        },
        stdio: ["pipe", "pipe", "pipe"]
      })
      const ended = new Promise<number | null>((resolve) => child.once("exit", resolve))
      let output = ""
      for (const stream of [child.stdout, child.stderr]) stream.on("data", (data) => (output += data))
      return { process: child, output: () => output, ended: Effect.promise(() => ended) }
    }),
    ({ ended, process: child }) =>
      Effect.suspend(() => {
        child.kill("SIGTERM")
        return ended
      })
  )

const waitUntilReady = ({ output, process: child }: Instance) =>
  until(() => output().includes("The service is ready.") || child.exitCode !== null).pipe(
    Effect.tap(() => Effect.sync(() => assert.include(output(), "The service is ready.")))
  )

export const start = (...args: Parameters<typeof launch>) => Effect.tap(launch(...args), waitUntilReady)

/** A temporary folder and a free port. */
export const makePlace = Effect.gen(function* () {
  const folder = yield* temporaryFolder
  // For a test that fails after it has killed the parent of its servers.
  yield* Effect.addFinalizer(() => Effect.ignore(stopOrphans(dataFolderOf(folder))))
  return { folder, port: yield* chooseStablePort(join(folder, "port")) }
})
