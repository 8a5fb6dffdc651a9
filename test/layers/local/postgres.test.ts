import { spawn } from "node:child_process"
import { chmodSync, cpSync, existsSync, mkdirSync, readFileSync, statSync, writeFileSync } from "node:fs"
import { dirname, join } from "node:path"
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import pg from "pg"
import { isRoot } from "../../../src/layers/local/postgres/Account.ts"
import { startPostgres } from "../../../src/layers/local/postgres/Postgres.ts"
import { describePrograms, embeddedPrograms } from "../../../src/layers/local/postgres/PostgresPrograms.ts"
import { captureConsole, pollSchedule, temporaryFolder } from "./temporary.ts"

const at = (folder: string) => ({ folder: join(folder, "postgres"), logFile: join(folder, "log"), durable: false })
const dataOf = (folder: string) => join(folder, "postgres", "data")

const ask = (url: string, statement: string) =>
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

const postmasterPid = (folder: string) =>
  Number(readFileSync(join(dataOf(folder), "postmaster.pid"), "utf8").split("\n")[0])

describe("the embedded PostgreSQL", () => {
  it.scopedLive("keeps its data and its address from one start to the next", () =>
    Effect.gen(function* () {
      const folder = yield* temporaryFolder
      const first = yield* startPostgres({ ...at(folder), durable: true }).pipe(
        Effect.tap(({ url }) => ask(url, "CREATE TABLE kept AS SELECT 7 AS n")),
        Effect.tap(({ url }) =>
          Effect.map(
            ask(url, "SELECT current_setting('fsync') || current_setting('synchronous_commit') AS safe"),
            (rows) => assert.deepStrictEqual(rows, [{ safe: "onon" }])
          )
        ),
        Effect.scoped
      )
      assert.isFalse(existsSync(join(dataOf(folder), "postmaster.pid")))
      const second = yield* startPostgres(at(folder))
      assert.strictEqual(second.url, first.url)
      assert.deepStrictEqual(yield* ask(second.url, "SELECT n FROM kept"), [{ n: 7 }])
    })
  )

  it.scopedLive("is made with UTF-8, asks for the password and keeps it to itself", () =>
    Effect.gen(function* () {
      const folder = yield* temporaryFolder
      const { url } = yield* startPostgres(at(folder))
      assert.deepStrictEqual(yield* ask(url, "SHOW server_encoding"), [{ server_encoding: "UTF8" }])
      const refused = yield* Effect.flip(ask(url.replace(/:[0-9a-f]+@/, ":wrong@"), "SELECT 1"))
      assert.include(String(refused.cause), "password authentication failed")
      assert.strictEqual(statSync(join(folder, "postgres", "password")).mode & 0o777, 0o600)
    })
  )

  it.scopedLive("is started again at the same address, with its data, after its server was killed", () =>
    captureConsole((lines) =>
      Effect.gen(function* () {
        const folder = yield* temporaryFolder
        const { url } = yield* startPostgres({ ...at(folder), durable: true })
        yield* ask(url, "CREATE TABLE kept AS SELECT 7 AS n")
        const killed = postmasterPid(folder)
        process.kill(killed, "SIGKILL")
        const rows = yield* ask(url, "SELECT n FROM kept").pipe(Effect.retry(pollSchedule))
        assert.deepStrictEqual(rows, [{ n: 7 }])
        assert.notStrictEqual(postmasterPid(folder), killed)
        assert.strictEqual(lines[0], "postgres stopped (signal SIGKILL); starting again in 0.2 s")
      })
    )
  )

  it.scopedLive(
    "starts although the pid of its killed server now belongs to another process, and spares that one",
    () =>
      Effect.gen(function* () {
        const folder = yield* temporaryFolder
        const pidFile = join(dataOf(folder), "postmaster.pid")
        const leftBehind = yield* startPostgres(at(folder)).pipe(
          Effect.map(() => readFileSync(pidFile, "utf8")),
          Effect.scoped
        )
        const { gid, uid } = statSync(dataOf(folder))
        const stranger = yield* Effect.acquireRelease(
          Effect.sync(() => spawn("sleep", ["600"], isRoot ? { uid, gid } : {})),
          (child) => Effect.sync(() => child.kill("SIGKILL"))
        )
        writeFileSync(pidFile, leftBehind.replace(/^\d+/, String(stranger.pid)))
        const { url } = yield* startPostgres(at(folder))
        assert.deepStrictEqual(yield* ask(url, "SELECT 1 AS n"), [{ n: 1 }])
        assert.isNull(stranger.exitCode)
        assert.isNull(stranger.signalCode)
      })
  )

  it.scopedLive("throws away what an interrupted first start left", () =>
    Effect.gen(function* () {
      const folder = yield* temporaryFolder
      const unfinished = join(folder, "postgres", "unfinished-1")
      mkdirSync(unfinished, { recursive: true })
      writeFileSync(join(unfinished, "PG_VERSION"), "18")
      const { url } = yield* startPostgres(at(folder))
      assert.deepStrictEqual(yield* ask(url, "SELECT 1 AS n"), [{ n: 1 }])
      assert.isFalse(existsSync(unfinished))
    })
  )

  it.scopedLive("does not try for ever with a password that does not fit", () =>
    Effect.gen(function* () {
      const folder = yield* temporaryFolder
      yield* Effect.scoped(startPostgres(at(folder)))
      writeFileSync(join(folder, "postgres", "password"), "another")
      const failure = yield* Effect.flip(startPostgres(at(folder)))
      assert.include(failure.message, "password authentication failed")
    })
  )

  it.scopedLive("says what to do with the data of another version", () =>
    Effect.gen(function* () {
      const folder = yield* temporaryFolder
      mkdirSync(dataOf(folder), { recursive: true })
      writeFileSync(join(dataOf(folder), "PG_VERSION"), "12\n")
      const failure = yield* Effect.flip(startPostgres(at(folder)))
      assert.include(failure.message, "was made by PostgreSQL 12")
    })
  )

  it.runIf(isRoot)("runs for root although programs and data lie where only root may enter", () =>
    Effect.gen(function* () {
      const folder = yield* temporaryFolder
      const { initdb } = yield* embeddedPrograms
      cpSync(dirname(dirname(initdb)), join(folder, "native"), { recursive: true, verbatimSymlinks: true })
      chmodSync(folder, 0o700)
      const bin = join(folder, "native", "bin")
      const programs = yield* describePrograms({ initdb: join(bin, "initdb"), postgres: join(bin, "postgres") })
      const { url } = yield* startPostgres({ ...at(folder), programs })
      assert.deepStrictEqual(yield* ask(url, "SELECT 1 AS n"), [{ n: 1 }])
      const { uid } = statSync(`/proc/${postmasterPid(folder)}`)
      assert.notStrictEqual(uid, 0)
      assert.strictEqual(uid, statSync(dataOf(folder)).uid)
    }).pipe(Effect.scoped, Effect.runPromise)
  )
})
