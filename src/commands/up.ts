import { existsSync } from "node:fs"
import { dirname, join, relative } from "node:path"
import { fileURLToPath } from "node:url"
import { Data, Deferred, Effect, ExecutionStrategy, Exit, Fiber, Redacted, Ref, Schedule, Scope } from "effect"
import { consolePath } from "../http/server/pages/Console.ts"
import { baseUrlOf, requestSignInLink } from "../http/server/pages/ConsoleLink.ts"
import { acceptsDevelopmentTokens } from "../layers/infra/auth/DevelopmentKey.ts"
import { Settings, type SettingsShape } from "../layers/infra/config/Settings.ts"
import { waitUntilApiReady } from "../layers/infra/local/ApiReadiness.ts"
import { printLine, withProgress } from "../layers/infra/local/ConsoleProgress.ts"
import { type DataDir, lockDataDir } from "../layers/infra/local/DataDir.ts"
import { findNatsProgram, type NoNatsServer } from "../layers/infra/local/nats/NatsPrograms.ts"
import { startNats } from "../layers/infra/local/nats/NatsServer.ts"
import { localhost, PortTaken, requireFreePort } from "../layers/infra/local/Ports.ts"
import { projectRoot } from "../layers/infra/local/ProjectRoot.ts"
import { startPostgres } from "../layers/infra/local/postgres/Postgres.ts"
import type { Program } from "../layers/infra/local/process/Child.ts"
import { apiHeapOptions } from "../layers/infra/local/process/HeapOptions.ts"
import { exitWithParent, supervisedFlag } from "../layers/infra/local/process/ParentWatch.ts"
import { restartOnChange } from "../layers/infra/local/process/RestartOnChange.ts"
import { makeSpareProcesses } from "../layers/infra/local/process/SpareProcesses.ts"
import { makeStopSignal } from "../layers/infra/local/process/StopSignals.ts"
import { supervise } from "../layers/infra/local/process/Supervisor.ts"
import { workerNames } from "../workers/registry.ts"

export class NoDevelopmentFolder extends Data.TaggedError("NoDevelopmentFolder") {
  override get message() {
    return `This is a release: it has no PostgreSQL and no NATS server to start. Run "migrate", "api" and "worker <name>" instead, with DATABASE_URL and NATS_URL. "npm start" works in a clone of the repository.`
  }
}

/** A release has the program without the scripts and the packages that this command needs. */
const requireDevelopmentFolder = Effect.suspend(() =>
  existsSync(join(projectRoot, "scripts")) ? Effect.void : Effect.fail(new NoDevelopmentFolder())
)

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

/** The program, which the child processes run too. */
const main = join(dirname(fileURLToPath(import.meta.url)), "main.js")

/** What `npm run dev` builds beside it: a program that runs it later, and the packages that this one loads before. */
const spare = join(dirname(main), "spare.js")
const packagesMark = join(dirname(main), "packages", "mark")

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
    const programOf = (name: string, args: ReadonlyArray<string>): Program => ({
      name,
      command: process.execPath,
      args: [main, ...args],
      env: { ...process.env, ...urls, DATA_DIR: dataDir.folder, [supervisedFlag]: "1" },
      logFile: dataDir.logFileOf(name),
      stop: [["SIGTERM", "20 seconds"]]
    })
    const spares = watch ? yield* makeSpareProcesses(packagesMark) : undefined
    const serviceOf = (program: Program, options: ReadonlyArray<string> = []): Program =>
      spares === undefined
        ? { ...program, args: [...options, ...program.args] }
        : { ...program, args: [...options, spare], start: spares.start(program.args.slice(1)) }
    const api = serviceOf(programOf("api", ["api"]), apiHeapOptions)
    const workerOf = (name: string, names: ReadonlyArray<string>) => {
      const { env, ...program } = programOf(name, ["worker", ...names])
      // Only one process can bind METRICS_PORT; the API does.
      return serviceOf({ ...program, env: { ...env, METRICS_PORT: undefined } })
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
      // Loading takes both cores for a while, which the workers need now.
      if (spares !== undefined) yield* Effect.forkScoped(Effect.delay(spares.prepare([api, ...workers]), "2 seconds"))
    })
    yield* watch ? restartOnChange(main, startProcesses) : startProcesses
  })

/** Runs the whole system on this machine until a stop signal arrives. */
export const run = (args: ReadonlyArray<string>) =>
  Effect.gen(function* () {
    yield* requireDevelopmentFolder
    yield* exitWithParent
    const settings = yield* Settings
    const stopSignal = yield* makeStopSignal
    yield* Effect.raceFirst(
      Effect.zipRight(start(settings, { watch: args.includes("--watch") }), Effect.never),
      Deferred.await(stopSignal)
    )
  }).pipe(
    Effect.scoped,
    Effect.onExit((exit) => (Exit.isSuccess(exit) || Exit.isInterrupted(exit) ? printLine("Stopped") : Effect.void))
  )
