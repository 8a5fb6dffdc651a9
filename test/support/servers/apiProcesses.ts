import { type ChildProcess, spawn } from "node:child_process"
import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { dirname, join } from "node:path"
import { createInterface } from "node:readline"
import { Effect } from "effect"
import { inject } from "vitest"
import { buildProgram, isBuilt } from "../../../scripts/prepare.mjs"
import { supervisedFlag } from "../../../src/commands/ParentWatch.ts"
import { signDevelopmentToken } from "../../../src/layers/infra/auth/DevelopmentKey.ts"
import { readSettings, Settings } from "../../../src/layers/infra/config/Settings.ts"
import { projectRoot } from "../../../tools/local/ProjectRoot.ts"
import { brokerSettings } from "./brokerSettings.ts"
import { migratedDatabase } from "./database.ts"

// Not in `dist`: its bundle may be outdated, or in use by others.
export const apiProgram = join(projectRoot, "node_modules", ".cache", "test-api", "main.js")

const { DATABASE_URL: _database, NATS_URL: _nats, ...inheritedEnv } = process.env

/** Bundles the current sources, unless a file before has done it. */
export const bundleApi = async () => {
  if (!isBuilt(apiProgram)) await buildProgram(dirname(apiProgram))
}

/** Waits for a line with this message and returns its URL. Collects all lines. */
const waitForUrl = (child: ChildProcess, message: string, lines: Array<string>) =>
  new Promise<string>((resolve, reject) => {
    child.once("exit", () => reject(new Error(`It ended before it listened:\n${lines.join("\n")}`)))
    for (const stream of [child.stdout, child.stderr]) {
      if (stream === null) continue
      createInterface(stream).on("line", (line) => {
        lines.push(line)
        const url = new RegExp(`${message} (http:[\\w./:]+)`).exec(line)?.[1]
        if (url !== undefined) resolve(url)
      })
    }
  })

/** Starts the bundled api in processes that share a database and a key for tokens. */
export const prepareApiProcesses = async (
  environment: Readonly<Record<string, string>> = {},
  program: string = apiProgram
) => {
  const database = await migratedDatabase()
  const folder = mkdtempSync(join(tmpdir(), "contracting-api-"))
  const settings = {
    DATA_DIR: folder,
    ...database.settingsAt(inject("pooledUrl")),
    ...brokerSettings(environment["NATS_URL"]),
    PORT: "0"
  }
  const running = new Map<ChildProcess, Promise<void>>()

  const kill = (child: ChildProcess) => {
    child.kill("SIGKILL")
    return running.get(child)
  }

  const launch = async (args: ReadonlyArray<string>, message: string) => {
    const child = spawn(process.execPath, [program, ...args], {
      // Supervised: it ends with the test process, even when that is killed.
      env: { ...inheritedEnv, NODE_ENV: "development", ...settings, ...environment, [supervisedFlag]: "1" },
      stdio: ["pipe", "pipe", "pipe"]
    })
    const ended = new Promise<void>((resolve) => child.once("exit", () => resolve()))
    running.set(child, ended)
    const stop = () => {
      child.kill("SIGTERM")
      return ended
    }
    const lines: Array<string> = []
    const url = await waitForUrl(child, message, lines)
    return { url, lines, pid: child.pid, kill: () => kill(child), stop }
  }

  return {
    database,

    start: () => launch(["api"], "Listening on"),

    /** Needs METRICS_PORT and returns the URL of the metrics. */
    startWorker: (name: string) => launch(["worker", name], "Metrics are on"),

    token: (subject: string) =>
      Effect.runPromise(
        readSettings(settings).pipe(
          Effect.flatMap((read) => Effect.provideService(signDevelopmentToken(subject, 3600), Settings, read))
        )
      ),

    /** Kills all processes and removes the database and the folder. */
    stopAll: async () => {
      await Promise.all([...running.keys()].map(kill))
      await database.drop()
      rmSync(folder, { recursive: true, force: true })
    }
  }
}

export type ApiProcesses = Awaited<ReturnType<typeof prepareApiProcesses>>
