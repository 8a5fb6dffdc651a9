import { type ChildProcess, execFileSync, spawn } from "node:child_process"
import { readdirSync, readFileSync } from "node:fs"
import { get } from "node:http"
import { join } from "node:path"
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { startOf } from "../scripts/pidLock.mjs"
import { chooseStablePort, localhost } from "../src/layers/local/Ports.ts"
import { projectRoot } from "../src/layers/local/ProjectRoot.ts"
import { commandLineOf } from "../src/layers/local/process/OrphanProcess.ts"
import { supervisedFlag } from "../src/layers/local/process/ParentWatch.ts"
import { temporaryFolder, until } from "./layers/local/temporary.ts"
import { stopOrphans } from "./support/servers/orphans.ts"

interface Instance {
  readonly process: ChildProcess
  readonly output: () => string
  /** Its exit code; null after a signal ended it. */
  readonly ended: Effect.Effect<number | null>
}

const { DATABASE_URL: _database, NATS_URL: _nats, ...environment } = process.env

const dataOf = (folder: string) => join(folder, "data")

const launch = (folder: string, port: number) =>
  Effect.acquireRelease(
    Effect.sync((): Instance => {
      const child = spawn(process.execPath, [join(projectRoot, "dist", "main.js"), "up"], {
        // Supervised by us: it ends with the test process, also when that is killed.
        env: {
          ...environment,
          NODE_ENV: "development",
          DATA_DIR: dataOf(folder),
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

const welcomed = ({ output, process: child }: Instance) =>
  until(() => output().includes("The service is ready.") || child.exitCode !== null).pipe(
    Effect.tap(() => Effect.sync(() => assert.include(output(), "The service is ready.")))
  )

const startIn = (folder: string, port: number) => Effect.tap(launch(folder, port), welcomed)

const readiness = (port: number) =>
  Effect.async<number>((resume) => {
    get(`http://${localhost}:${port}/readyz`, { agent: false }, (response) => {
      response.resume()
      resume(Effect.succeed(response.statusCode ?? 0))
    }).once("error", () => resume(Effect.succeed(0)))
  })

/** A process by pid, parent and the words it was started with; nothing when it has just ended. */
const fromProc = (pid: string) => {
  try {
    const [, parent] = readFileSync(`/proc/${pid}/stat`, "utf8").split(") ")[1]?.split(" ") ?? []
    return [`${pid} ${parent} ${commandLineOf(Number(pid))}`]
  } catch {
    return []
  }
}

/** Small systems have no `ps`. */
const processes = () =>
  process.platform === "linux"
    ? readdirSync("/proc")
        .filter((name) => /^\d+$/.test(name))
        .flatMap(fromProc)
    : execFileSync("ps", ["-A", "-ww", "-o", "pid=,ppid=,args="], { encoding: "utf8" }).split("\n")

/** The pids of its children by the last word they were started with, such as `api`. */
const childrenOf = ({ process: { pid } }: Instance) =>
  processes()
    .map((line) => line.trim().split(/\s+/))
    .filter(([, parent]) => Number(parent) === pid)
    .map((words) => ({ pid: Number(words[0]), word: words.at(-1) ?? "" }))

const apiOf = (instance: Instance) => childrenOf(instance).find(({ word }) => word === "api")?.pid ?? 0

const allGone = (pids: ReadonlyArray<number>) => until(() => pids.every((pid) => startOf(pid) === undefined))

const place = Effect.gen(function* () {
  const folder = yield* temporaryFolder
  // For a test that fails after it has killed the process its servers belong to.
  yield* Effect.addFinalizer(() => Effect.ignore(stopOrphans(dataOf(folder))))
  return { folder, port: yield* chooseStablePort(join(folder, "port")) }
})

describe("the whole system on one machine", { timeout: 90_000 }, () => {
  it.scopedLive("starts, mends itself, and stops without leaving a process behind", () =>
    Effect.gen(function* () {
      const { folder, port } = yield* place
      const instance = yield* startIn(folder, port)
      assert.strictEqual(yield* readiness(port), 200)
      assert.include(instance.output(), `http://${localhost}:${port}/docs`)

      const killed = apiOf(instance)
      process.kill(killed, "SIGKILL")
      yield* until(() => instance.output().includes("api stopped (signal SIGKILL); starting again in 0.2 s"))
      yield* readiness(port).pipe(Effect.repeat({ until: (status) => status === 200 }))
      assert.notStrictEqual(apiOf(instance), killed)

      const children = childrenOf(instance).map(({ pid }) => pid)
      assert.isAtLeast(children.length, 4)
      instance.process.kill("SIGTERM")
      assert.strictEqual(yield* instance.ended, 0)
      assert.deepStrictEqual(
        children.filter((pid) => startOf(pid) !== undefined),
        []
      )
      assert.isTrue(instance.output().endsWith("Stopped\n"))
    })
  )

  it.scopedLive("bears a Ctrl-C that arrives twice, as under npm", () =>
    Effect.gen(function* () {
      const { folder, port } = yield* place
      const instance = yield* startIn(folder, port)
      const children = childrenOf(instance).map(({ pid }) => pid)
      instance.process.kill("SIGINT")
      yield* until(() => instance.output().includes("Stopping"))
      instance.process.kill("SIGINT")
      assert.strictEqual(yield* instance.ended, 0)
      assert.deepStrictEqual(
        children.filter((pid) => startOf(pid) !== undefined),
        []
      )
    })
  )

  it.scopedLive("runs beside another instance, but neither in its folder nor on its port", () =>
    Effect.gen(function* () {
      const one = yield* place
      const other = yield* place
      const [first] = yield* Effect.all([startIn(one.folder, one.port), startIn(other.folder, other.port)], {
        concurrency: "unbounded"
      })
      assert.deepStrictEqual([yield* readiness(one.port), yield* readiness(other.port)], [200, 200])

      const sameFolder = yield* launch(one.folder, (yield* place).port)
      assert.strictEqual(yield* sameFolder.ended, 1)
      assert.include(sameFolder.output(), `Another instance (process ${first.process.pid})`)

      const samePort = yield* launch((yield* place).folder, one.port)
      assert.strictEqual(yield* samePort.ended, 1)
      assert.include(samePort.output(), `Port ${one.port} on ${localhost} is taken`)
    })
  )

  it.scopedLive("starts again after it was killed, and nothing of the killed run stays", () =>
    Effect.gen(function* () {
      const { folder, port } = yield* place
      const killed = yield* startIn(folder, port)
      const orphans = childrenOf(killed).map(({ pid }) => pid)
      killed.process.kill("SIGKILL")
      yield* killed.ended
      const instance = yield* startIn(folder, port)
      assert.strictEqual(yield* readiness(port), 200)
      yield* allGone(orphans)
      instance.process.kill("SIGTERM")
      assert.strictEqual(yield* instance.ended, 0)
    })
  )
})
