import { mkdtempSync, readFileSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { setTimeout as pause } from "node:timers/promises"
import { Effect, Exit, Scope } from "effect"
import { supervisedFlag } from "../../src/commands/ParentWatch.ts"
import { signDevelopmentToken } from "../../src/layers/infra/auth/DevelopmentKey.ts"
import { readSettings, Settings } from "../../src/layers/infra/config/Settings.ts"
import { findNatsProgram } from "../local/nats/NatsPrograms.ts"
import { startNats } from "../local/nats/NatsServer.ts"
import { chooseStablePort, localhost } from "../local/Ports.ts"
import { projectRoot } from "../local/ProjectRoot.ts"
import { startPostgres } from "../local/postgres/Postgres.ts"
import { supervise } from "../local/process/Supervisor.ts"
import { prepareNatsCluster } from "./natsCluster.ts"

/** A check of a drill that did not hold. */
export class DrillFailed extends Error {}

export function ensure(condition: boolean, message: string): asserts condition {
  if (!condition) throw new DrillFailed(message)
}

/** Waits for a condition. A drill must not hang, so it fails after the timeout. */
export const waitFor = async (what: string, condition: () => boolean | Promise<boolean>, seconds = 60) => {
  const end = Date.now() + seconds * 1000
  while (!(await condition())) {
    ensure(Date.now() < end, `Not within ${seconds} s: ${what}`)
    await pause(20)
  }
}

type Environment = Readonly<Record<string, string>>

const { DATABASE_URL: _database, NATS_URL: _nats, SECRETS_KEY: _key, ...inherited } = process.env

/** The workers of an earlier release may have no such route. They run when they respond. */
const isReady = (port: number) =>
  fetch(`http://${localhost}:${port}/readyz`).then(
    ({ ok, status }) => ok || status === 404,
    () => false
  )

/** Something that runs until it is stopped or killed. */
export interface Running {
  readonly stop: () => Promise<void>
  /** Ends it without warning, and does not start it again. */
  readonly kill: () => Promise<void>
}

const readPid = (file: string) => Number.parseInt(readFileSync(file, "utf8"), 10)

/** The servers and processes of one drill, in a temporary folder. All of them end with it. */
export const openStage = async () => {
  const folder = mkdtempSync(join(tmpdir(), "contracting-drill-"))
  const stops: Array<() => Promise<void>> = []
  const logOf = (name: string) => join(folder, `${name}.log`)

  /** Starts something in a scope of its own. */
  const start = async <A, E>(work: Effect.Effect<A, E, Scope.Scope>) => {
    const scope = Effect.runSync(Scope.make())
    const stop = () => Effect.runPromise(Scope.close(scope, Exit.void))
    stops.push(stop)
    return { value: await Effect.runPromise(Scope.extend(work, scope)), stop }
  }

  const killable = (pidFile: string, stop: () => Promise<void>): Running => ({
    stop,
    kill: async () => {
      const pid = readPid(pidFile)
      process.kill(pid, "SIGKILL")
      await stop()
    }
  })

  return {
    folder,

    postgres: async (name: string, settings: Environment = {}) => {
      const server = join(folder, name)
      const { stop, value } = await start(
        startPostgres({ folder: server, logFile: logOf(name), durable: true, settings })
      )
      return { ...value, folder: server, ...killable(join(server, "data", "postmaster.pid"), stop) }
    },

    nats: async () => {
      const { value } = await start(
        Effect.flatMap(findNatsProgram(process.env["NATS_SERVER_BIN"]), (program) =>
          startNats({ folder: join(folder, "nats"), logFile: logOf("nats"), program })
        )
      )
      return { NATS_URL: value.url }
    },

    /** Three servers. A killed one is started again by its supervisor. */
    natsCluster: async () => {
      const { value: nodes } = await start(
        Effect.gen(function* () {
          const program = yield* findNatsProgram(process.env["NATS_SERVER_BIN"])
          const prepared = yield* prepareNatsCluster(join(folder, "nats"), program)
          return yield* Effect.forEach(
            prepared,
            ({ name, pidFile, start }) => Effect.map(start, ({ url }) => ({ name, url, pid: () => readPid(pidFile) })),
            { concurrency: "unbounded" }
          )
        })
      )
      const settings = { NATS_URL: nodes.map(({ url }) => url).join(","), NATS_REPLICAS: String(nodes.length) }
      return { nodes, settings }
    },

    /** Starts a process of the service and waits until it is ready. */
    service: async (name: string, args: ReadonlyArray<string>, settings: Environment, release = projectRoot) => {
      const port = await Effect.runPromise(chooseStablePort(join(folder, `${name}.port`)))
      const metricsPort = await Effect.runPromise(chooseStablePort(join(folder, `${name}.metrics-port`)))
      const env = {
        ...inherited,
        NODE_ENV: "development",
        DATA_DIR: folder,
        DELIVERY_ALLOW: "127.0.0.0/8",
        PORT: String(port),
        METRICS_PORT: String(metricsPort),
        ...settings,
        [supervisedFlag]: "1"
      }
      const program = {
        name,
        command: process.execPath,
        args: [join(release, "dist", "main.js"), ...args],
        env,
        logFile: logOf(name),
        stop: [["SIGTERM", "20 seconds"]] as const
      }
      const ready = Effect.promise(() => waitFor(`${name} is ready, see ${logOf(name)}`, () => isReady(metricsPort)))
      const { stop } = await start(supervise(program, { ready }))
      return { url: `http://${localhost}:${port}`, stop }
    },

    token: async (subject: string) => {
      const settings = await Effect.runPromise(readSettings({ DATA_DIR: folder }))
      return Effect.runPromise(Effect.provideService(signDevelopmentToken(subject, 3600), Settings, settings))
    },

    close: async () => {
      for (const stop of stops.reverse()) await stop()
      rmSync(folder, { recursive: true, force: true })
    }
  }
}

export type Stage = Awaited<ReturnType<typeof openStage>>
