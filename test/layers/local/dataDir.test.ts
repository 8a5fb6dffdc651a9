import { type ChildProcess, spawn } from "node:child_process"
import { mkdirSync, readdirSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { lockDataDir } from "../../../src/layers/local/DataDir.ts"
import { projectRoot } from "../../../src/layers/local/ProjectRoot.ts"
import { temporaryFolder } from "./temporary.ts"

const lockModule = join(projectRoot, "scripts", "pidLock.mjs")

const node = (script: string) =>
  spawn(process.execPath, ["--input-type=module", "-e", script], { stdio: ["ignore", "pipe", "inherit"] })

const firstWord = (child: ChildProcess) =>
  Effect.async<string>((resume) => void child.stdout?.once("data", (data) => resume(Effect.succeed(String(data)))))

const exitCode = (child: ChildProcess) =>
  Effect.async<number | null>((resume) => void child.once("exit", (code) => resume(Effect.succeed(code))))

const holder = (folder: string) =>
  Effect.acquireRelease(
    Effect.sync(() =>
      node(`
        import { tryLock } from ${JSON.stringify(lockModule)}
        process.stdout.write(tryLock(${JSON.stringify(join(folder, "lock"))}).held ? "refused" : "holding")
        setInterval(() => {}, 1000)
      `)
    ),
    (child) => Effect.sync(() => child.kill("SIGKILL"))
  ).pipe(Effect.tap((child) => Effect.map(firstWord(child), (word) => assert.strictEqual(word, "holding"))))

describe("the claim on a data folder", () => {
  it.scopedLive("names the process that holds it", () =>
    Effect.gen(function* () {
      const folder = yield* temporaryFolder
      const { pid } = yield* holder(folder)
      const refusal = yield* Effect.flip(lockDataDir(folder))
      assert.strictEqual(refusal._tag, "AlreadyRunning")
      assert.include(refusal.message, `process ${pid}`)
      assert.include(refusal.message, folder)
    })
  )

  it.scopedLive("is free again after its holder was killed, and says so", () =>
    Effect.gen(function* () {
      const folder = yield* temporaryFolder
      const child = yield* holder(folder)
      const ended = yield* Effect.fork(exitCode(child))
      child.kill("SIGKILL")
      yield* ended
      const { wasKilled } = yield* lockDataDir(folder)
      assert.isTrue(wasKilled)
      assert.lengthOf(readdirSync(join(folder, "lock")), 1)
    })
  )

  it.scopedLive("is not held by a stranger who was given the holder's pid", () =>
    Effect.gen(function* () {
      const folder = yield* temporaryFolder
      mkdirSync(join(folder, "lock"))
      writeFileSync(join(folder, "lock", `${process.ppid}-1-1.1`), "")
      const { wasKilled } = yield* lockDataDir(folder)
      assert.isTrue(wasKilled)
    })
  )

  it.scopedLive("ends with its scope", () =>
    Effect.gen(function* () {
      const folder = yield* temporaryFolder
      yield* Effect.scoped(lockDataDir(folder))
      const { wasKilled } = yield* lockDataDir(folder)
      assert.isFalse(wasKilled)
    })
  )

  it.scopedLive("is never held by two at once, however many try", () =>
    Effect.gen(function* () {
      const folder = yield* temporaryFolder
      const contender = () =>
        node(`
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
      const codes = yield* Effect.forEach([1, 2, 3, 4], () => Effect.suspend(() => exitCode(contender())), {
        concurrency: "unbounded"
      })
      assert.deepStrictEqual(codes, [0, 0, 0, 0])
    })
  )
})
