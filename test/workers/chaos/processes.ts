import { type ChildProcess, spawn } from "node:child_process"
import { closeSync, mkdtempSync, openSync, readFileSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { setTimeout as pause } from "node:timers/promises"
import { Effect } from "effect"
import { supervisedFlag } from "../../../src/commands/ParentWatch.ts"
import { signDevelopmentToken } from "../../../src/layers/infra/auth/DevelopmentKey.ts"
import { readSettings, Settings } from "../../../src/layers/infra/config/Settings.ts"
import { chooseStablePort } from "../../../tools/local/Ports.ts"
import { apiProgram } from "../../support/servers/apiProcesses.ts"
import type { KillableServers } from "./killableServers.ts"

const { DATABASE_URL: _database, NATS_URL: _nats, ...inherited } = process.env

const readLastLines = (file: string) => readFileSync(file, "utf8").split("\n").slice(-30).join("\n")

interface ProcessOptions {
  readonly name: string
  readonly args: ReadonlyArray<string>
  readonly env?: Readonly<Record<string, string>>
}

/** Runs processes of the bundled program. Each can be killed and is then started again. */
export const makeProcesses = ({
  databaseUrl,
  natsUrl,
  pooledUrl
}: Pick<KillableServers, "databaseUrl" | "natsUrl" | "pooledUrl">) => {
  const folder = mkdtempSync(join(tmpdir(), "contracting-chaos-"))
  const settings = {
    DATA_DIR: folder,
    DATABASE_URL: pooledUrl,
    DATABASE_DIRECT_URL: databaseUrl,
    NATS_URL: natsUrl,
    NATS_REPLICAS: String(natsUrl.split(",").length),
    DELIVERY_ALLOW: "127.0.0.0/8"
  }
  const running = new Set<() => Promise<void>>()
  const unexpectedExits: Array<string> = []

  const launch = ({ args, env, name }: ProcessOptions) => {
    const log = openSync(join(folder, `${name}.log`), "a")
    const child = spawn(process.execPath, [apiProgram, ...args], {
      env: { ...inherited, NODE_ENV: "development", ...settings, ...env, [supervisedFlag]: "1" },
      stdio: ["pipe", log, log]
    })
    closeSync(log)
    return child
  }

  const killAndWait = async (child: ChildProcess, exited: Promise<void>) => {
    child.kill("SIGKILL")
    await exited
  }

  /** Starts a process. The returned function kills it and starts it again after the downtime. */
  const add = (options: ProcessOptions) => {
    const start = () => {
      const child = launch(options)
      let isStopping = false
      const exited = new Promise<void>((resolve) =>
        child.once("exit", (code, signal) => {
          if (!isStopping) {
            const log = readLastLines(join(folder, `${options.name}.log`))
            unexpectedExits.push(`${options.name} (${signal ?? code})\n${log}`)
          }
          resolve()
        })
      )
      const stop = async () => {
        isStopping = true
        await killAndWait(child, exited)
        running.delete(stop)
      }
      running.add(stop)
      return stop
    }
    let stop = start()
    return async (downMillis: number) => {
      await stop()
      await pause(downMillis)
      stop = start()
    }
  }

  return {
    folder,
    unexpectedExits,
    add,

    /** Starts an API that keeps its port when it is started again. */
    addApi: async (name: string) => {
      const port = await Effect.runPromise(chooseStablePort(join(folder, `${name}.port`)))
      return { url: `http://127.0.0.1:${port}`, kill: add({ name, args: ["api"], env: { PORT: String(port) } }) }
    },

    token: (subject: string) =>
      Effect.runPromise(
        readSettings(settings).pipe(
          Effect.flatMap((read) => Effect.provideService(signDevelopmentToken(subject, 3600), Settings, read))
        )
      ),

    stop: async () => {
      await Promise.all([...running].map((stop) => stop()))
      rmSync(folder, { recursive: true, force: true })
    }
  }
}
