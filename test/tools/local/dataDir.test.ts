import { type ChildProcess, spawn } from "node:child_process"
import { mkdirSync, readdirSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { lockDataDir } from "../../../tools/local/DataDir.ts"
import { projectRoot } from "../../../tools/local/ProjectRoot.ts"
import { temporaryFolder } from "./temporary.ts"

const lockModule = join(projectRoot, "scripts", "pidLock.mjs")

const runScript = (script: string) =>
  spawn(process.execPath, ["--input-type=module", "-e", script], { stdio: ["ignore", "pipe", "inherit"] })

const readFirstOutput = (child: ChildProcess) =>
  Effect.async<string>((resume) => void child.stdout?.once("data", (data) => resume(Effect.succeed(String(data)))))

const awaitExitCode = (child: ChildProcess) =>
  Effect.async<number | null>((resume) => void child.once("exit", (code) => resume(Effect.succeed(code))))

const startLockHolder = (folder: string) =>
  Effect.acquireRelease(
    Effect.sync(() =>
      runScript(`
        import { tryLock } from ${JSON.stringify(lockModule)}
        process.stdout.write(tryLock(${JSON.stringify(join(folder, "lock"))}).held ? "rejected" : "locked")
        setInterval(() => {}, 1000)
      `)
    ),
    (child) => Effect.sync(() => child.kill("SIGKILL"))
  ).pipe(Effect.tap((child) => Effect.map(readFirstOutput(child), (output) => assert.strictEqual(output, "locked"))))

describe("The lock of a data folder", () => {
  it.scopedLive("names the process that holds it in its error", () =>
    Effect.gen(function* () {
      const folder = yield* temporaryFolder
      const { pid } = yield* startLockHolder(folder)
      const error = yield* Effect.flip(lockDataDir(folder))
      assert.strictEqual(error._tag, "AlreadyRunning")
      assert.include(error.message, `process ${pid}`)
      assert.include(error.message, folder)
    })
  )

  it.scopedLive("can be taken after its holder was killed, and reports the kill", () =>
    Effect.gen(function* () {
      const folder = yield* temporaryFolder
      const child = yield* startLockHolder(folder)
      const ended = yield* Effect.fork(awaitExitCode(child))
      child.kill("SIGKILL")
      yield* ended
      const { wasKilled } = yield* lockDataDir(folder)
      assert.isTrue(wasKilled)
      assert.lengthOf(readdirSync(join(folder, "lock")), 1)
    })
  )

  it.scopedLive("can be taken if the pid of its holder belongs to another process", () =>
    Effect.gen(function* () {
      const folder = yield* temporaryFolder
      mkdirSync(join(folder, "lock"))
      writeFileSync(join(folder, "lock", `${process.ppid}-1-1.1`), "")
      const { wasKilled } = yield* lockDataDir(folder)
      assert.isTrue(wasKilled)
    })
  )

  it.scopedLive("is released with its scope", () =>
    Effect.gen(function* () {
      const folder = yield* temporaryFolder
      yield* Effect.scoped(lockDataDir(folder))
      const { wasKilled } = yield* lockDataDir(folder)
      assert.isFalse(wasKilled)
    })
  )

  it.scopedLive("is held by one process at a time under contention", () =>
    Effect.gen(function* () {
      const folder = yield* temporaryFolder
      const startContender = () =>
        runScript(`
          import { rmSync, writeFileSync } from "node:fs"
          import { setTimeout } from "node:timers/promises"
          import { tryLock } from ${JSON.stringify(lockModule)}
          for (let done = 0; done < 25; ) {
            const lock = tryLock(${JSON.stringify(join(folder, "lock"))})
            if (!lock.held) {
              writeFileSync(${JSON.stringify(join(folder, "alone"))}, "", { flag: "wx" })
              await setTimeout(1)
              rmSync(${JSON.stringify(join(folder, "alone"))})
              lock.release()
              done += 1
            }
            await setTimeout(Math.random() * 5)
          }
        `)
      const codes = yield* Effect.forEach([1, 2, 3, 4], () => Effect.suspend(() => awaitExitCode(startContender())), {
        concurrency: "unbounded"
      })
      assert.deepStrictEqual(codes, [0, 0, 0, 0])
    })
  )
})
