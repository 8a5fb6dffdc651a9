import { readFileSync, statSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { assert, describe, it } from "@effect/vitest"
import { type Duration, Effect, Exit, Fiber, Scope, TestClock } from "effect"
import type { Program } from "../../../tools/local/process/Child.ts"
import { runProgram } from "../../../tools/local/process/Child.ts"
import { runWithRestarts, supervise } from "../../../tools/local/process/Supervisor.ts"
import { captureConsole, temporaryFolder, until } from "./temporary.ts"

const makeProgram = (
  folder: string,
  name: string,
  code: string,
  stop: Duration.DurationInput = "10 seconds"
): Program => ({
  name,
  command: process.execPath,
  args: ["-e", code],
  env: process.env,
  logFile: join(folder, `${name}.log`),
  stop: [["SIGTERM", stop]]
})

const readLog = ({ logFile }: Program) => {
  try {
    return readFileSync(logFile, "utf8")
  } catch {
    return ""
  }
}

const readPids = (program: Program) =>
  readLog(program)
    .split("\n")
    .filter((line) => line !== "")
    .map(Number)

const logPid = "console.log(process.pid); setInterval(() => {}, 1000)"

describe("Restarts of a supervised program", () => {
  it.scoped("back off exponentially up to ten seconds", () =>
    captureConsole((lines) =>
      Effect.gen(function* () {
        yield* Effect.forkScoped(runWithRestarts("api", Effect.succeed("exit code 1")))
        yield* TestClock.adjust("1 minute")
        assert.deepStrictEqual(
          lines.slice(0, 8),
          ["0.2", "0.4", "0.8", "1.6", "3.2", "6.4", "10.0", "10.0"].map(
            (pause) => `api stopped (exit code 1); starting again in ${pause} s`
          )
        )
      })
    )
  )

  it.scoped("reset the backoff after the program ran for half a minute", () =>
    captureConsole((lines) =>
      Effect.gen(function* () {
        const lifetimes = ["1 second", "1 second", "30 seconds", "1 second"] as const
        let round = 0
        const running = Effect.suspend(() =>
          Effect.as(Effect.sleep(lifetimes[round++ % lifetimes.length] ?? 0), "signal SIGKILL")
        )
        yield* Effect.forkScoped(runWithRestarts("api", running))
        yield* TestClock.adjust("40 seconds")
        assert.deepStrictEqual(
          lines.map((line) => line.slice(line.lastIndexOf("in "))),
          ["in 0.2 s", "in 0.4 s", "in 0.2 s", "in 0.4 s", "in 0.8 s", "in 1.6 s"].slice(0, lines.length)
        )
        assert.isAtLeast(lines.length, 4)
      })
    )
  )
})

describe("A supervised program", () => {
  it.scopedLive("is restarted after it was killed, and the restart is logged", () =>
    captureConsole((lines) =>
      Effect.gen(function* () {
        const program = makeProgram(yield* temporaryFolder, "worker", logPid)
        yield* supervise(program, { ready: until(() => readPids(program).length === 1) })
        const [first] = readPids(program)
        assert.isDefined(first)
        process.kill(first ?? 0, "SIGKILL")
        yield* until(() => readPids(program).length === 2)
        assert.notStrictEqual(readPids(program)[1], first)
        assert.deepStrictEqual(lines, ["worker stopped (signal SIGKILL); starting again in 0.2 s"])
      })
    )
  )

  it.scopedLive("that exits before it is ready fails the start with the end of its log", () =>
    captureConsole((lines) =>
      Effect.gen(function* () {
        const program = makeProgram(yield* temporaryFolder, "api", "console.error('no such table'); process.exit(3)")
        const failure = yield* Effect.flip(supervise(program, { ready: Effect.never }))
        assert.strictEqual(failure._tag, "StoppedEarly")
        assert.include(failure.message, "api stopped (exit code 3)")
        assert.include(failure.message, "no such table")
        assert.deepStrictEqual(lines, [])
      })
    )
  )

  it.scopedLive("that does not exist fails the start with the name of the command", () =>
    Effect.gen(function* () {
      const program = { ...makeProgram(yield* temporaryFolder, "api", ""), command: "/no/such/program" }
      const failure = yield* Effect.flip(supervise(program, { ready: Effect.never }))
      assert.include(failure.message, "/no/such/program could not be started")
    })
  )

  it.scopedLive("can finish its work after SIGTERM, and programs stop in reverse order of their start", () =>
    Effect.gen(function* () {
      const folder = yield* temporaryFolder
      const recordFile = join(folder, "record")
      const slow = (name: string) =>
        makeProgram(
          folder,
          name,
          `const record = (what) => require("fs").appendFileSync(${JSON.stringify(recordFile)}, "${name} " + what + "\\n")
           process.on("SIGTERM", () => { record("signalled"); setTimeout(() => { record("done"); process.exit(0) }, 100) })
           console.log(process.pid); setInterval(() => {}, 1000)`
        )
      const scope = yield* Scope.make()
      for (const program of [slow("first"), slow("second")]) {
        yield* supervise(program, { ready: until(() => readPids(program).length === 1) }).pipe(Scope.extend(scope))
      }
      yield* Scope.close(scope, Exit.void)
      assert.deepStrictEqual(readFileSync(recordFile, "utf8").trim().split("\n"), [
        "second signalled",
        "second done",
        "first signalled",
        "first done"
      ])
    })
  )

  it.scopedLive("that ignores SIGTERM is killed after its stop timeout", () =>
    Effect.gen(function* () {
      const code = `process.on("SIGTERM", () => console.log("no")); ${logPid}`
      const program = makeProgram(yield* temporaryFolder, "api", code, "200 millis")
      const running = yield* Effect.fork(runProgram(program))
      yield* until(() => readLog(program) !== "")
      const [pid] = readPids(program)
      yield* Fiber.interrupt(running)
      assert.include(readLog(program), "no")
      assert.throws(() => process.kill(pid ?? 0, 0), "ESRCH")
    })
  )
})

describe("The log of a supervised program", () => {
  it.scopedLive("is rotated at the start if it is larger than 10 MiB", () =>
    Effect.gen(function* () {
      const program = makeProgram(yield* temporaryFolder, "api", "console.log('new')")
      writeFileSync(program.logFile, Buffer.alloc(10 * 1024 * 1024 + 1, "x"))
      yield* runProgram(program)
      assert.strictEqual(readLog(program), "new\n")
      assert.strictEqual(statSync(`${program.logFile}.1`).size, 10 * 1024 * 1024 + 1)
      yield* runProgram(program)
      assert.strictEqual(readLog(program), "new\nnew\n")
    })
  )
})
