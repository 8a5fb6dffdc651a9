import { readFileSync, statSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { assert, describe, it } from "@effect/vitest"
import { type Duration, Effect, Exit, Fiber, Scope, TestClock } from "effect"
import type { Program } from "../../../src/layers/local/process/Child.ts"
import { runProgram } from "../../../src/layers/local/process/Child.ts"
import { runWithRestarts, supervise } from "../../../src/layers/local/process/Supervisor.ts"
import { listening, temporaryFolder, until } from "./temporary.ts"

const script = (folder: string, name: string, code: string, stop: Duration.DurationInput = "10 seconds"): Program => ({
  name,
  command: process.execPath,
  args: ["-e", code],
  env: process.env,
  logFile: join(folder, `${name}.log`),
  stop: [["SIGTERM", stop]]
})

const logOf = ({ logFile }: Program) => {
  try {
    return readFileSync(logFile, "utf8")
  } catch {
    return ""
  }
}

const pidsIn = (program: Program) =>
  logOf(program)
    .split("\n")
    .filter((line) => line !== "")
    .map(Number)

const tellPid = "console.log(process.pid); setInterval(() => {}, 1000)"

describe("restarts", () => {
  it.scoped("pause longer each time, up to ten seconds", () =>
    listening((lines) =>
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

  it.scoped("start over with the short pause after half a minute of health", () =>
    listening((lines) =>
      Effect.gen(function* () {
        const lives = ["1 second", "1 second", "30 seconds", "1 second"] as const
        let round = 0
        const running = Effect.suspend(() =>
          Effect.as(Effect.sleep(lives[round++ % lives.length] ?? 0), "signal SIGKILL")
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

describe("a supervised program", () => {
  it.scopedLive("is started again when it is killed, and that is said", () =>
    listening((lines) =>
      Effect.gen(function* () {
        const program = script(yield* temporaryFolder, "worker", tellPid)
        yield* supervise(program, { ready: until(() => pidsIn(program).length === 1) })
        const [first] = pidsIn(program)
        assert.isDefined(first)
        process.kill(first ?? 0, "SIGKILL")
        yield* until(() => pidsIn(program).length === 2)
        assert.notStrictEqual(pidsIn(program)[1], first)
        assert.deepStrictEqual(lines, ["worker stopped (signal SIGKILL); starting again in 0.2 s"])
      })
    )
  )

  it.scopedLive("that ends before it was ever ready fails the start with the end of its log", () =>
    listening((lines) =>
      Effect.gen(function* () {
        const program = script(yield* temporaryFolder, "api", "console.error('no such table'); process.exit(3)")
        const failure = yield* Effect.flip(supervise(program, { ready: Effect.never }))
        assert.strictEqual(failure._tag, "StoppedEarly")
        assert.include(failure.message, "api stopped (exit code 3)")
        assert.include(failure.message, "no such table")
        assert.deepStrictEqual(lines, [])
      })
    )
  )

  it.scopedLive("that does not exist fails the start with its name", () =>
    Effect.gen(function* () {
      const program = { ...script(yield* temporaryFolder, "api", ""), command: "/no/such/program" }
      const failure = yield* Effect.flip(supervise(program, { ready: Effect.never }))
      assert.include(failure.message, "/no/such/program could not be started")
    })
  )

  it.scopedLive("may finish its work after SIGTERM, and those started later end first", () =>
    Effect.gen(function* () {
      const folder = yield* temporaryFolder
      const told = join(folder, "told")
      const slow = (name: string) =>
        script(
          folder,
          name,
          `const tell = (what) => require("fs").appendFileSync(${JSON.stringify(told)}, "${name} " + what + "\\n")
           process.on("SIGTERM", () => { tell("asked"); setTimeout(() => { tell("done"); process.exit(0) }, 100) })
           console.log(process.pid); setInterval(() => {}, 1000)`
        )
      const scope = yield* Scope.make()
      for (const program of [slow("first"), slow("second")]) {
        yield* supervise(program, { ready: until(() => pidsIn(program).length === 1) }).pipe(Scope.extend(scope))
      }
      yield* Scope.close(scope, Exit.void)
      assert.deepStrictEqual(readFileSync(told, "utf8").trim().split("\n"), [
        "second asked",
        "second done",
        "first asked",
        "first done"
      ])
    })
  )

  it.scopedLive("that ignores SIGTERM is killed when its time is over", () =>
    Effect.gen(function* () {
      const code = `process.on("SIGTERM", () => console.log("no")); ${tellPid}`
      const program = script(yield* temporaryFolder, "api", code, "200 millis")
      const running = yield* Effect.fork(runProgram(program))
      yield* until(() => logOf(program) !== "")
      const [pid] = pidsIn(program)
      yield* Fiber.interrupt(running)
      assert.include(logOf(program), "no")
      assert.throws(() => process.kill(pid ?? 0, 0), "ESRCH")
    })
  )
})

describe("logs", () => {
  it.scopedLive("are set aside at a start once they are longer than 10 MiB", () =>
    Effect.gen(function* () {
      const program = script(yield* temporaryFolder, "api", "console.log('new')")
      writeFileSync(program.logFile, Buffer.alloc(10 * 1024 * 1024 + 1, "x"))
      yield* runProgram(program)
      assert.strictEqual(logOf(program), "new\n")
      assert.strictEqual(statSync(`${program.logFile}.1`).size, 10 * 1024 * 1024 + 1)
      yield* runProgram(program)
      assert.strictEqual(logOf(program), "new\nnew\n")
    })
  )
})
