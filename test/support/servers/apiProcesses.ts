import { type ChildProcess, spawn } from "node:child_process"
import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { createInterface } from "node:readline"
import { Effect } from "effect"
import { inject } from "vitest"
import { bundle } from "../../../scripts/bundle.mjs"
import { signDevelopmentToken } from "../../../src/layers/auth/DevelopmentKey.ts"
import { readSettings, Settings } from "../../../src/layers/config/Settings.ts"
import { projectRoot } from "../../../src/layers/local/ProjectRoot.ts"
import { supervisedFlag } from "../../../src/layers/local/process/ParentWatch.ts"
import { migratedDatabase } from "./database.ts"

// Beside `dist`, whose bundle may be older than the sources, or of use to others at this moment.
export const apiProgram = join(projectRoot, "node_modules", ".cache", "test-api", "main.js")

const { DATABASE_URL: _database, NATS_URL: _nats, ...inherited } = process.env

/** Makes the program of the sources as they are. */
export const bundleApi = () => bundle("src/main.ts", apiProgram, { selfContained: true })

/** Where it listens, once it says so in these words. */
const addressFrom = (child: ChildProcess, said: string) =>
  new Promise<string>((resolve, reject) => {
    const lines: Array<string> = []
    child.once("exit", () => reject(new Error(`It ended before it listened:\n${lines.join("\n")}`)))
    for (const stream of [child.stdout, child.stderr]) {
      if (stream === null) continue
      createInterface(stream).on("line", (line) => {
        lines.push(line)
        const url = new RegExp(`${said} (http:[\\w./:]+)`).exec(line)?.[1]
        if (url !== undefined) resolve(url)
      })
    }
  })

/** The api, bundled before, in processes of its own over one database and one key for tokens. */
export const prepareApiProcesses = async (environment: Readonly<Record<string, string>> = {}) => {
  const database = await migratedDatabase()
  const folder = mkdtempSync(join(tmpdir(), "contracting-api-"))
  const settings = { DATA_DIR: folder, DATABASE_URL: database.url, NATS_URL: inject("natsUrl"), PORT: "0" }
  const running = new Map<ChildProcess, Promise<void>>()

  const kill = (child: ChildProcess) => {
    child.kill("SIGKILL")
    return running.get(child)
  }

  const launch = async (args: ReadonlyArray<string>, said: string) => {
    const child = spawn(process.execPath, [apiProgram, ...args], {
      // Supervised by us: it ends with the test process, also when that is killed.
      env: { ...inherited, NODE_ENV: "development", ...settings, ...environment, [supervisedFlag]: "1" },
      stdio: ["pipe", "pipe", "pipe"]
    })
    const ended = new Promise<void>((resolve) => child.once("exit", () => resolve()))
    running.set(child, ended)
    return { url: await addressFrom(child, said), pid: child.pid, kill: () => kill(child) }
  }

  return {
    database,

    start: () => launch(["api"], "Listening on"),

    /** With METRICS_PORT set, at which it then is. */
    startWorker: (name: string) => launch(["worker", name], "Metrics are on"),

    token: (subject: string) =>
      Effect.runPromise(
        readSettings(settings).pipe(
          Effect.flatMap((read) => Effect.provideService(signDevelopmentToken(subject, 3600), Settings, read))
        )
      ),

    /** Ends what still runs and leaves nothing behind. */
    clear: async () => {
      await Promise.all([...running.keys()].map(kill))
      await database.drop()
      rmSync(folder, { recursive: true, force: true })
    }
  }
}

export type ApiProcesses = Awaited<ReturnType<typeof prepareApiProcesses>>
