import { spawn } from "node:child_process"
import { chmodSync, cpSync, existsSync, mkdirSync, readFileSync, statSync, writeFileSync } from "node:fs"
import { dirname, join } from "node:path"
import { assert, describe, it } from "@effect/vitest"
import { Effect, Exit, Scope } from "effect"
import pg from "pg"
import { isRoot } from "../../../tools/local/postgres/Account.ts"
import { startPostgres } from "../../../tools/local/postgres/Postgres.ts"
import { describePrograms, embeddedPrograms } from "../../../tools/local/postgres/PostgresPrograms.ts"
import { useFixture } from "../../support/fixtures/useFixture.ts"
import { captureConsole, pollSchedule, temporaryFolder } from "./temporary.ts"

const optionsIn = (folder: string) => ({
  folder: join(folder, "postgres"),
  logFile: join(folder, "log"),
  durable: false
})
const dataIn = (folder: string) => join(folder, "postgres", "data")
const pidFileIn = (folder: string) => join(dataIn(folder), "postmaster.pid")

const query = (url: string, statement: string) =>
  Effect.tryPromise(async () => {
    const client = new pg.Client(url)
    client.on("error", () => {})
    try {
      await client.connect()
      return (await client.query(statement)).rows
    } finally {
      await client.end()
    }
  })

const readPid = (folder: string) => Number(readFileSync(pidFileIn(folder), "utf8").split("\n")[0])

/** A cluster that a durable server has run on once, since initdb takes most of the time of a first start. */
const startOnce = async () => {
  const scope = Effect.runSync(Scope.make())
  const started = Effect.gen(function* () {
    const folder = yield* Scope.extend(temporaryFolder, scope)
    const leftover = join(folder, "postgres", "unfinished-1")
    mkdirSync(leftover, { recursive: true })
    writeFileSync(join(leftover, "PG_VERSION"), "18")
    const { url } = yield* startPostgres({ ...optionsIn(folder), durable: true })
    yield* query(url, "CREATE TABLE kept AS SELECT 7 AS n")
    const durability = yield* query(
      url,
      "SELECT current_setting('fsync') AS fsync, current_setting('synchronous_commit') AS commit"
    )
    return { folder, leftover, url, durability, pidFile: readFileSync(pidFileIn(folder), "utf8") }
  })
  const stop = () => Effect.runPromise(Scope.close(scope, Exit.void))
  return { ...(await Effect.runPromise(Effect.scoped(started))), stop }
}

describe("The embedded PostgreSQL", () => {
  const first = useFixture(startOnce)

  it("syncs commits to disk if it is durable", () => {
    assert.deepStrictEqual(first().durability, [{ fsync: "on", commit: "on" }])
  })

  it("deletes the leftovers of an interrupted first start", () => {
    assert.isFalse(existsSync(first().leftover))
  })

  it.scopedLive("keeps its data and its URL across restarts", () =>
    Effect.gen(function* () {
      const { folder, url } = first()
      assert.isFalse(existsSync(pidFileIn(folder)))
      const second = yield* startPostgres(optionsIn(folder))
      assert.strictEqual(second.url, url)
      assert.deepStrictEqual(yield* query(url, "SELECT n FROM kept"), [{ n: 7 }])
    })
  )

  it.scopedLive("encodes as UTF-8, requires its password, and keeps the password file private", () =>
    Effect.gen(function* () {
      const { folder } = first()
      const { url } = yield* startPostgres(optionsIn(folder))
      assert.deepStrictEqual(yield* query(url, "SHOW server_encoding"), [{ server_encoding: "UTF8" }])
      const failure = yield* Effect.flip(query(url.replace(/:[0-9a-f]+@/, ":wrong@"), "SELECT 1"))
      assert.include(String(failure.cause), "password authentication failed")
      assert.strictEqual(statSync(join(folder, "postgres", "password")).mode & 0o777, 0o600)
    })
  )

  it.scopedLive("is restarted with the same URL and data after its server was killed", () =>
    captureConsole((lines) =>
      Effect.gen(function* () {
        const { folder } = first()
        const { url } = yield* startPostgres({ ...optionsIn(folder), durable: true })
        yield* query(url, "CREATE TABLE written AS SELECT 8 AS n")
        const killedPid = readPid(folder)
        process.kill(killedPid, "SIGKILL")
        const rows = yield* query(url, "SELECT n FROM written").pipe(Effect.retry(pollSchedule))
        assert.deepStrictEqual(rows, [{ n: 8 }])
        assert.notStrictEqual(readPid(folder), killedPid)
        assert.strictEqual(lines[0], "postgres stopped (signal SIGKILL); starting again in 0.2 s")
      })
    )
  )

  it.scopedLive("starts without killing another process that has the pid of a killed server", () =>
    Effect.gen(function* () {
      const { folder, pidFile } = first()
      const { gid, uid } = statSync(dataIn(folder))
      const otherProcess = yield* Effect.acquireRelease(
        Effect.sync(() => spawn("sleep", ["600"], isRoot ? { uid, gid } : {})),
        (child) => Effect.sync(() => child.kill("SIGKILL"))
      )
      writeFileSync(pidFileIn(folder), pidFile.replace(/^\d+/, String(otherProcess.pid)))
      const { url } = yield* startPostgres(optionsIn(folder))
      assert.deepStrictEqual(yield* query(url, "SELECT 1 AS n"), [{ n: 1 }])
      assert.isNull(otherProcess.exitCode)
      assert.isNull(otherProcess.signalCode)
    })
  )

  it.scopedLive("fails to start with a wrong password instead of retrying forever", () =>
    Effect.gen(function* () {
      const { folder } = first()
      const file = join(folder, "postgres", "password")
      const password = readFileSync(file, "utf8")
      writeFileSync(file, "another")
      yield* Effect.addFinalizer(() => Effect.sync(() => writeFileSync(file, password)))
      const failure = yield* Effect.flip(startPostgres(optionsIn(folder)))
      assert.include(failure.message, "password authentication failed")
    })
  )

  it.scopedLive("refuses the data of another PostgreSQL version", () =>
    Effect.gen(function* () {
      const folder = yield* temporaryFolder
      mkdirSync(dataIn(folder), { recursive: true })
      writeFileSync(join(dataIn(folder), "PG_VERSION"), "12\n")
      const failure = yield* Effect.flip(startPostgres(optionsIn(folder)))
      assert.include(failure.message, "was made by PostgreSQL 12")
    })
  )

  it.runIf(isRoot)("runs as root with programs and data in a folder that only root may enter", () =>
    Effect.gen(function* () {
      const folder = yield* temporaryFolder
      const { initdb } = yield* embeddedPrograms
      cpSync(dirname(dirname(initdb)), join(folder, "native"), { recursive: true, verbatimSymlinks: true })
      chmodSync(folder, 0o700)
      const bin = join(folder, "native", "bin")
      const programs = yield* describePrograms({ initdb: join(bin, "initdb"), postgres: join(bin, "postgres") })
      const { url } = yield* startPostgres({ ...optionsIn(folder), programs })
      assert.deepStrictEqual(yield* query(url, "SELECT 1 AS n"), [{ n: 1 }])
      const { uid } = statSync(`/proc/${readPid(folder)}`)
      assert.notStrictEqual(uid, 0)
      assert.strictEqual(uid, statSync(dataIn(folder)).uid)
    }).pipe(Effect.scoped, Effect.runPromise)
  )
})
