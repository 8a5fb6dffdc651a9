import { dirname, join, relative } from "node:path"
import { fileURLToPath } from "node:url"
import { Deferred, Effect, ExecutionStrategy, Exit, Fiber, Redacted, Ref, Schedule, Scope } from "effect"
import { exitWithParent, supervisedFlag } from "../../src/commands/ParentWatch.ts"
import { consolePath } from "../../src/http/server/pages/Console.ts"
import { baseUrlOf, requestSignInLink } from "../../src/http/server/pages/ConsoleLink.ts"
import { acceptsDevelopmentTokens } from "../../src/layers/infra/auth/DevelopmentKey.ts"
import { Settings, type SettingsShape } from "../../src/layers/infra/config/Settings.ts"
import { workerNames } from "../../src/workers/registry.ts"
import { waitUntilApiReady } from "./ApiReadiness.ts"
import { printLine, withProgress } from "./ConsoleProgress.ts"
import { type DataDir, lockDataDir } from "./DataDir.ts"
import { findNatsProgram, type NoNatsServer } from "./nats/NatsPrograms.ts"
import { startNats } from "./nats/NatsServer.ts"
import { localhost, PortTaken, requireFreePort } from "./Ports.ts"
import { startPostgres } from "./postgres/Postgres.ts"
import type { Program } from "./process/Child.ts"
import { apiHeapOptions } from "./process/HeapOptions.ts"
import { restartOnChange } from "./process/RestartOnChange.ts"
import { makeStopSignal } from "./process/StopSignals.ts"
import { supervise } from "./process/Supervisor.ts"

/** Checks the port before anything starts. After a kill, the old API process needs a moment to exit. */
const requirePort = ({ HOST, PORT }: SettingsShape, { wasKilled }: DataDir) =>
  PORT === 0
    ? Effect.fail(new PortTaken({ host: HOST, port: PORT, code: "npm start needs a fixed PORT" }))
    : requireFreePort(HOST, PORT).pipe(
        Effect.retry(Schedule.spaced("100 millis").pipe(Schedule.upTo(wasKilled ? "20 seconds" : 0)))
      )

const startDatabase = ({ DATABASE_URL }: SettingsShape, { folder, logFileOf }: DataDir) =>
  DATABASE_URL !== undefined
    ? Effect.succeed(Redacted.value(DATABASE_URL))
    : withProgress(
        "Starting PostgreSQL",
        startPostgres({ folder: join(folder, "postgres"), logFile: logFileOf("postgres"), durable: true }),
        ({ port, version }) => `PostgreSQL ${version} ready on ${localhost}:${port}`
      ).pipe(Effect.map(({ url }) => url))

/** Where a NATS server listens unless it is configured otherwise. */
const defaultNatsUrl = `nats://${localhost}:4222`

const startWithoutBroker = ({ message }: NoNatsServer) => {
  const consequence = `Until one runs on ${defaultNatsUrl} (nats-server -js), webhooks are sent some seconds later and events for NATS integrations wait in the database.`
  return Effect.as(printLine(`! ${message} ${consequence}`), defaultNatsUrl)
}

const startBroker = ({ NATS_SERVER_BIN, NATS_URL }: SettingsShape, { folder, logFileOf }: DataDir) =>
  NATS_URL !== undefined
    ? Effect.succeed(NATS_URL.join(","))
    : Effect.flatMap(findNatsProgram(NATS_SERVER_BIN), (program) =>
        withProgress(
          "Starting NATS",
          startNats({ folder: join(folder, "nats"), logFile: logFileOf("nats"), program }),
          ({ port, version }) => `NATS ${version} ready on ${localhost}:${port}`
        )
      ).pipe(
        Effect.map(({ url }) => url),
        Effect.catchTag("NoNatsServer", startWithoutBroker)
      )

/** A link that signs in once, or the address of the console where another issuer signs people in. */
const consoleLink = (baseUrl: string, settings: SettingsShape, { folder }: DataDir) =>
  acceptsDevelopmentTokens(settings)
    ? requestSignInLink(baseUrl).pipe(Effect.provideService(Settings, { ...settings, DATA_DIR: folder }))
    : Effect.succeed(`${baseUrl}${consolePath}`)

const welcomeText = (baseUrl: string, link: string | undefined, { folder, logFileOf }: DataDir) => {
  const tokenCommand = "npm run -s token -- --sub alice"
  const relativeFolder = relative(process.cwd(), folder)
  return [
    "",
    "  The service is ready.",
    "",
    ...(link === undefined ? [] : [`  Console ${link}`]),
    `  API     ${baseUrl}/api/v1`,
    `  Docs    ${baseUrl}/docs`,
    `  Logs    ${relative(process.cwd(), join(logFileOf("api"), ".."))}`,
    `  Token   ${relativeFolder === ".data" ? tokenCommand : `DATA_DIR=${folder} ${tokenCommand}`}`,
    "  Stop    Ctrl-C",
    ""
  ].join("\n")
}

/** The program of the child processes, which is built beside this one. */
const main = join(dirname(fileURLToPath(import.meta.url)), "main.js")

interface UpOptions {
  /** Restarts the API and the workers when their program is built again. */
  readonly watch: boolean
}

const start = (settings: SettingsShape, { watch }: UpOptions) =>
  Effect.gen(function* () {
    const dataDir = yield* lockDataDir(settings.DATA_DIR)
    yield* requirePort(settings, dataDir)
    const urls = {
      DATABASE_URL: yield* startDatabase(settings, dataDir),
      NATS_URL: yield* startBroker(settings, dataDir),
      PUBLIC_URL: settings.PUBLIC_URL ?? baseUrlOf(settings)
    }
    const programOf = (name: string, args: ReadonlyArray<string>, options: ReadonlyArray<string> = []): Program => ({
      name,
      command: process.execPath,
      args: [...options, main, ...args],
      env: { ...process.env, ...urls, DATA_DIR: dataDir.folder, [supervisedFlag]: "1" },
      logFile: dataDir.logFileOf(name),
      stop: [["SIGTERM", "20 seconds"]]
    })
    const api = programOf("api", ["api"], apiHeapOptions)
    const workerOf = (name: string, names: ReadonlyArray<string>) => {
      const { env, ...program } = programOf(name, ["worker", ...names])
      // Only one process can bind METRICS_PORT; the API does.
      return { ...program, env: { ...env, METRICS_PORT: undefined } }
    }
    // One process loads its program sooner than four.
    const workers = watch ? [workerOf("workers", workerNames)] : workerNames.map((name) => workerOf(name, [name]))
    const baseUrl = baseUrlOf(settings)
    const link = settings.CONSOLE === "off" ? Effect.succeed(undefined) : consoleLink(baseUrl, settings, dataDir)
    const welcome = yield* Effect.once(Effect.flatMap(link, (link) => printLine(welcomeText(baseUrl, link, dataDir))))
    const scope = yield* Effect.scope
    const stoppingWorkers = yield* Ref.make<Fiber.Fiber<void>>(Fiber.void)
    const startProcesses = Effect.gen(function* () {
      const workersScope = yield* Scope.make(ExecutionStrategy.parallel)
      // Finalizers run in reverse order: the workers stop after the API.
      yield* Effect.addFinalizer((exit) => {
        const stopWorkers = Effect.uninterruptible(Scope.close(workersScope, exit))
        // The next API need not wait for them. The outer scope does when it closes.
        const stopBeside = Effect.flatMap(Effect.forkIn(stopWorkers, scope), (fiber) => Ref.set(stoppingWorkers, fiber))
        return watch ? stopBeside : stopWorkers
      })
      const startApi = withProgress(
        "Migrating the database and starting the API",
        supervise(api, { ready: waitUntilApiReady(baseUrl, api.logFile) }),
        () => "Database migrated, API ready"
      )
      const startWorkers = Effect.flatMap(Ref.get(stoppingWorkers), Fiber.await).pipe(
        Effect.zipRight(Effect.forEach(workers, (worker) => supervise(worker, { ready: Effect.void }))),
        Scope.extend(workersScope)
      )
      yield* Effect.all([startApi, startWorkers], { concurrency: watch ? 2 : 1 })
      yield* printLine(`✓ Workers started: ${workerNames.join(", ")}`)
      yield* welcome
      yield* Effect.addFinalizer(() => printLine("Stopping: waiting for running requests and jobs to finish"))
    })
    yield* watch ? restartOnChange(main, startProcesses) : startProcesses
  })

/** Runs the whole system on this machine until a stop signal arrives. */
export const up = (options: UpOptions) =>
  Effect.gen(function* () {
    yield* exitWithParent
    const settings = yield* Settings
    const stopSignal = yield* makeStopSignal
    yield* Effect.raceFirst(Effect.zipRight(start(settings, options), Effect.never), Deferred.await(stopSignal))
  }).pipe(
    Effect.scoped,
    Effect.onExit((exit) => (Exit.isSuccess(exit) || Exit.isInterrupted(exit) ? printLine("Stopped") : Effect.void))
  )
