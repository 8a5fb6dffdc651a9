import { type ChildProcess, spawn } from "node:child_process"
import { cpSync, existsSync, mkdtempSync, readFileSync, rmSync, symlinkSync, utimesSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { Effect } from "effect"
import { afterAll, assert, beforeAll, describe, it } from "vitest"
import { startOf } from "../scripts/pidLock.mjs"
import { supervisedFlag } from "../src/commands/ParentWatch.ts"
import { workerNames } from "../src/workers/registry.ts"
import { projectRoot } from "../tools/local/ProjectRoot.ts"
import { stopOrphans } from "./support/servers/orphans.ts"
import { childrenOf } from "./support/servers/processes.ts"
import { findClosedPort } from "./support/servers/proxy.ts"
import { eventually } from "./support/servers/worker.ts"

const { DATABASE_URL: _database, NATS_URL: _nats, PORT: _port, ...environment } = process.env

/** The last argument of each process: all workers run in one. */
const services = ["api", workerNames.at(-1) ?? ""]
const seconds = 90

/** A copy of the project, so that the test can change its sources. */
const copyProject = () => {
  const folder = mkdtempSync(join(tmpdir(), "contracting-dev-"))
  for (const name of ["src", "scripts", "tools", "package.json", "package-lock.json"])
    cpSync(join(projectRoot, name), join(folder, name), { recursive: true, preserveTimestamps: true })
  symlinkSync(join(projectRoot, "node_modules"), join(folder, "node_modules"), "dir")
  return folder
}

describe("npm run dev", { timeout: 4 * seconds * 1000 }, () => {
  let folder: string
  let port: number
  let dev: ChildProcess
  let output = ""
  beforeAll(async () => {
    folder = copyProject()
    port = await findClosedPort()
    // The environment takes precedence, so DATA_DIR of the file has no effect.
    writeFileSync(join(folder, ".env"), `PORT=${port}\nDATA_DIR=${join(folder, "unused")}\n`)
    dev = spawn(process.execPath, [join(folder, "scripts", "dev.mjs")], {
      cwd: folder,
      env: {
        ...environment,
        NODE_ENV: "development",
        DATA_DIR: join(folder, "data"),
        [supervisedFlag]: "1"
      },
      stdio: ["pipe", "pipe", "pipe"]
    })
    for (const stream of [dev.stdout, dev.stderr]) stream?.on("data", (data) => (output += data))
    const isReady = () => output.includes("The service is ready.") || dev.exitCode !== null
    await eventually(isReady, "the service is ready", seconds)
    assert.include(output, "The service is ready.")
  }, seconds * 1000)
  afterAll(async () => {
    const ended = new Promise((resolve) => dev.once("exit", resolve))
    if (dev.exitCode === null && dev.kill("SIGTERM")) await ended
    await Effect.runPromise(Effect.ignore(stopOrphans(join(folder, "data"))))
    rmSync(folder, { recursive: true, force: true })
  }, seconds * 1000)

  const pidOf = (name: string) => childrenOf(dev.pid ?? 0).find((child) => child.name === name)?.pid ?? 0
  const pids = () => services.map(pidOf)
  const others = () => childrenOf(dev.pid ?? 0).filter(({ name }) => !services.includes(name))
  const haveRestarted = (old: ReadonlyArray<number>) => () =>
    !old.some((pid) => startOf(pid) !== undefined) && pids().every((pid) => pid !== 0)

  const helpFile = () => join(folder, "src", "help.ts")
  const touch = (file: string) => utimesSync(file, new Date(), new Date())

  it("reads .env, but prefers the environment", () => {
    assert.include(output, `http://127.0.0.1:${port}/docs`)
    assert.isFalse(existsSync(join(folder, "unused")))
  })

  it("restarts the api and all workers when a file in src is touched, and keeps PostgreSQL and NATS", async () => {
    const [old, kept] = [pids(), others()]
    assert.isTrue(old.every((pid) => pid !== 0))
    assert.isAtLeast(kept.length, 2)
    touch(helpFile())
    await eventually(haveRestarted(old), "the processes are new", seconds)
    const isServing = () =>
      fetch(`http://127.0.0.1:${port}/readyz`).then(
        ({ ok }) => ok,
        () => false
      )
    await eventually(isServing, "the new api is ready", seconds)
    assert.includeDeepMembers(others(), kept)
    assert.include(output, "The program has changed: restarting")
  })

  it("runs the changed source", async () => {
    const source = join(folder, "src", "http", "server", "pages", "Health.ts")
    const text = readFileSync(source, "utf8")
    assert.include(text, "{ alive: true }")
    writeFileSync(source, text.replace("{ alive: true }", '{ alive: true, edition: "changed" }'))
    const isChanged = () =>
      fetch(`http://127.0.0.1:${port}/healthz`)
        .then((response) => response.text())
        .then(
          (body) => body.includes("changed"),
          () => false
        )
    await eventually(isChanged, "the api runs the changed source", seconds)
  })

  it("reports a source that does not compile, keeps the processes, and continues after the correction", async () => {
    const isComplete = () => pids().every((pid) => pid !== 0)
    await eventually(isComplete, "all processes run", seconds)
    const [old, text] = [pids(), readFileSync(helpFile(), "utf8")]
    writeFileSync(helpFile(), "export const = 1")
    await eventually(() => output.includes("keep running with the last build"), "the error is reported", seconds)
    assert.include(output, "src/help.ts:1")
    assert.deepStrictEqual(pids(), old)
    writeFileSync(helpFile(), text)
    await eventually(haveRestarted(old), "the processes are new", seconds)
  })
})
