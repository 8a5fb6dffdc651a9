import { join, relative } from "node:path"
import { Data, Deferred, Effect, ExecutionStrategy, Exit, Redacted, Schedule, Scope } from "effect"
import { Settings, type SettingsShape } from "./layers/config/Settings.ts"
import { apiReady } from "./layers/local/ApiReady.ts"
import { claimDataDir, type DataDir } from "./layers/local/DataDir.ts"
import { natsProgram } from "./layers/local/nats/NatsPrograms.ts"
import { startNats } from "./layers/local/nats/NatsServer.ts"
import { localhost, PortTaken, requireFree } from "./layers/local/Ports.ts"
import { projectRoot } from "./layers/local/ProjectRoot.ts"
import { startPostgres } from "./layers/local/postgres/Postgres.ts"
import { describe, type Program, run } from "./layers/local/process/Child.ts"
import { roomyHeap } from "./layers/local/process/Heap.ts"
import { lastLines } from "./layers/local/process/LogFile.ts"
import { stopAsked } from "./layers/local/process/StopSignals.ts"
import { supervise } from "./layers/local/process/Supervise.ts"
import { exitWithParent, supervisedFlag } from "./layers/local/process/Supervised.ts"
import { say, step } from "./layers/local/Say.ts"
import { workerNames } from "./workers/registry.ts"

export class MigrationFailed extends Data.TaggedError("MigrationFailed")<{
  readonly how: string
  readonly logFile: string
}> {
  override get message() {
    return `The database could not be migrated (${this.how}). The end of ${this.logFile}:\n${lastLines(this.logFile)}`
  }
}

/** Known before anything is started. After a kill the old api may take a moment to notice and leave. */
const claimPort = ({ HOST, PORT }: SettingsShape, { afterKill }: DataDir) =>
  PORT === 0
    ? Effect.fail(new PortTaken({ host: HOST, port: PORT, code: "npm start must know it beforehand" }))
    : requireFree(HOST, PORT).pipe(
        Effect.retry(Schedule.spaced("100 millis").pipe(Schedule.upTo(afterKill ? "20 seconds" : 0)))
      )

const database = ({ DATABASE_URL }: SettingsShape, { folder, logOf }: DataDir) =>
  DATABASE_URL !== undefined
    ? Effect.succeed(Redacted.value(DATABASE_URL))
    : step(
        "Starting PostgreSQL",
        startPostgres({ folder: join(folder, "postgres"), logFile: logOf("postgres"), durable: true }),
        ({ port, version }) => `PostgreSQL ${version} ready on ${localhost}:${port}`
      ).pipe(Effect.map(({ url }) => url))

const broker = ({ NATS_SERVER_BIN, NATS_URL }: SettingsShape, { folder, logOf }: DataDir) =>
  NATS_URL !== undefined
    ? Effect.succeed(NATS_URL)
    : Effect.flatMap(natsProgram(NATS_SERVER_BIN), (program) =>
        step(
          "Starting NATS",
          startNats({ folder: join(folder, "nats"), logFile: logOf("nats"), program }),
          ({ port, version }) => `NATS ${version} ready on ${localhost}:${port}`
        )
      ).pipe(Effect.map(({ url }) => url))

const migrate = (program: Program) =>
  run(program).pipe(
    Effect.filterOrFail(
      ({ code }) => code === 0,
      (ended) => new MigrationFailed({ how: describe(ended), logFile: program.logFile })
    )
  )

const everywhere: Record<string, string> = { "0.0.0.0": localhost, "::": "::1" }

const reachable = ({ HOST, PORT }: SettingsShape) => {
  const host = everywhere[HOST] ?? HOST
  return `http://${host.includes(":") ? `[${host}]` : host}:${PORT}`
}

const welcome = (base: string, { folder, logOf }: DataDir) => {
  const token = "npm run -s token -- --sub alice"
  const shown = relative(process.cwd(), folder)
  return [
    "",
    "  The service is ready.",
    "",
    `  API     ${base}/api/v1`,
    `  Docs    ${base}/docs`,
    `  Logs    ${relative(process.cwd(), join(logOf("api"), ".."))}`,
    `  Token   ${shown === ".data" ? token : `DATA_DIR=${folder} ${token}`}`,
    "  Stop    Ctrl-C",
    ""
  ].join("\n")
}

const start = (settings: SettingsShape) =>
  Effect.gen(function* () {
    const place = yield* claimDataDir(settings.DATA_DIR)
    yield* claimPort(settings, place)
    const urls = { DATABASE_URL: yield* database(settings, place), NATS_URL: yield* broker(settings, place) }
    const main = join(projectRoot, "dist", "main.js")
    const own = (name: string, args: ReadonlyArray<string>, extra: NodeJS.ProcessEnv = {}): Program => ({
      name,
      command: process.execPath,
      args: name === "api" ? [...roomyHeap, main, ...args] : [main, ...args],
      env: { ...process.env, ...urls, DATA_DIR: place.folder, [supervisedFlag]: "1", ...extra },
      logFile: place.logOf(name),
      stop: [["SIGTERM", "20 seconds"]]
    })
    yield* step("Migrating the database", migrate(own("migrate", ["migrate"])), () => "Database migrated")
    // Begun before the api, though filled after it: what began first ends last.
    const workers = yield* Scope.fork(yield* Effect.scope, ExecutionStrategy.parallel)
    const api = own("api", ["api"])
    const base = reachable(settings)
    yield* step("Starting the api", supervise(api, { ready: apiReady(base, api.logFile) }), () => "Api ready")
    yield* Effect.forEach(workerNames, (name) =>
      // One port serves one process, and that is the api.
      supervise(own(name, ["worker", name], { METRICS_PORT: undefined }), { ready: Effect.void })
    ).pipe(Scope.extend(workers))
    yield* say(`✓ Workers started: ${workerNames.join(", ")}`)
    yield* say(welcome(base, place))
    yield* Effect.addFinalizer(() => say("Stopping: requests and work under way are finished first"))
  })

/** The whole system on this machine, until somebody asks it to stop. */
export const up = Effect.gen(function* () {
  yield* exitWithParent
  const settings = yield* Settings
  const asked = yield* stopAsked
  yield* Effect.raceFirst(Effect.zipRight(start(settings), Effect.never), Deferred.await(asked))
}).pipe(
  Effect.scoped,
  Effect.onExit((exit) => (Exit.isSuccess(exit) || Exit.isInterrupted(exit) ? say("Stopped") : Effect.void))
)
