import { existsSync, mkdirSync, readFileSync, realpathSync } from "node:fs"
import { connect } from "node:net"
import { join } from "node:path"
import { Data, Effect, Schedule } from "effect"
import { tryFileAccess } from "../FileAccess.ts"
import { chooseStablePort, localhost } from "../Ports.ts"
import { stopOrphan } from "../process/OrphanProcess.ts"
import { supervise } from "../process/Supervisor.ts"
import type { NatsProgram } from "./NatsPrograms.ts"

export class BrokerNotReady extends Data.TaggedError("BrokerNotReady")<{ readonly reason: string }> {
  override get message() {
    return `The local NATS server does not respond: ${this.reason}`
  }
}

interface Options {
  readonly folder: string
  readonly logFile: string
  readonly program: NatsProgram
  /** Configures users and their permissions. Without it every client has all permissions. */
  readonly configFile?: string
}

const natsStopSignals = [["SIGTERM", "10 seconds"]] as const

/** The server sends an INFO line with its features to every new connection. */
const readInfo = (port: number) =>
  Effect.async<string, BrokerNotReady>((resume) => {
    const socket = connect(port, localhost)
    const fail = (reason: string) => resume(Effect.fail(new BrokerNotReady({ reason })))
    socket.setTimeout(2000, () => socket.destroy(new Error("no INFO within 2 s")))
    socket.once("error", (error) => fail(error.message))
    socket.once("close", () => fail("connection closed"))
    socket.once("data", (data) => {
      resume(Effect.succeed(data.toString()))
      socket.destroy()
    })
    return Effect.sync(() => socket.destroy())
  })

const waitUntilReady = (port: number) =>
  readInfo(port).pipe(
    Effect.filterOrFail(
      (line) => line.startsWith("INFO ") && line.includes('"jetstream":true'),
      () => new BrokerNotReady({ reason: "it has no JetStream" })
    ),
    Effect.retry(Schedule.spaced("50 millis").pipe(Schedule.upTo("1 minute")))
  )

const pidFileIn = (store: string) => join(store, "nats-server.pid")

/** Stops the orphaned server of an earlier, killed run on this store. */
export const stopOrphanedNats = (store: string) =>
  Effect.gen(function* () {
    const file = pidFileIn(store)
    const text = yield* tryFileAccess(file, () => (existsSync(file) ? readFileSync(file, "utf8") : ""))
    const pid = Number.parseInt(text, 10)
    if (Number.isNaN(pid)) return
    yield* stopOrphan({
      name: "NATS server",
      pid,
      mark: `nats-server -js -sd ${store}`,
      stop: [...natsStopSignals, ["SIGKILL", "5 seconds"]]
    })
  })

/** Runs a local NATS server with JetStream until the scope closes, and restarts it when it stops. */
export const startNats = ({ configFile, folder, logFile, program }: Options) =>
  Effect.gen(function* () {
    const store = yield* tryFileAccess(folder, () => {
      mkdirSync(folder, { recursive: true, mode: 0o700 })
      return realpathSync(folder)
    })
    const before = stopOrphanedNats(store)
    yield* before
    const port = yield* chooseStablePort(join(store, "port"))
    const config = configFile === undefined ? [] : ["-c", configFile]
    yield* supervise(
      {
        name: "nats-server",
        command: program.path,
        args: ["-js", "-sd", store, "-a", localhost, "-p", String(port), "-P", pidFileIn(store), ...config],
        env: process.env,
        logFile,
        stop: natsStopSignals
      },
      { before, ready: waitUntilReady(port) }
    )
    return { url: `nats://${localhost}:${port}`, port, version: program.version }
  })
