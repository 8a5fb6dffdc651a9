import { get } from "node:http"
import { Context, Effect, Layer, ManagedRuntime, type Scope } from "effect"
import { afterAll, assert, beforeAll, describe, it } from "vitest"
import { startOf } from "../../../scripts/pidLock.mjs"
import { localhost } from "../../../tools/local/Ports.ts"
import { childrenOf } from "../../support/servers/processes.ts"
import { type Instance, launch, makePlace, start } from "../../support/servers/upInstance.ts"
import { until } from "./temporary.ts"

const readinessStatus = (port: number) =>
  Effect.async<number>((resume) => {
    get(`http://${localhost}:${port}/readyz`, { agent: false }, (response) => {
      response.resume()
      resume(Effect.succeed(response.statusCode ?? 0))
    }).once("error", () => resume(Effect.succeed(0)))
  })

const processesOf = ({ process: { pid } }: Instance) => childrenOf(pid ?? 0)

const apiPidOf = (instance: Instance) => processesOf(instance).find(({ name }) => name === "api")?.pid ?? 0

const pidsOf = (instance: Instance) => processesOf(instance).map(({ pid }) => pid)

const isRunning = (pid: number) => startOf(pid) !== undefined

const startInstance = ({ folder, port }: Effect.Effect.Success<typeof makePlace>) =>
  Effect.map(start(folder, port), (instance) => ({ ...instance, folder, port }))

/** Two instances beside each other. A test may end an instance that no later test uses. */
class Instances extends Context.Tag("Instances")<
  Instances,
  ReadonlyArray<Effect.Effect.Success<ReturnType<typeof startInstance>>>
>() {
  static readonly Live = Layer.scoped(
    Instances,
    // One place after the other, so that both do not choose the same port.
    Effect.all([makePlace, makePlace]).pipe(Effect.flatMap(Effect.forEach(startInstance, { concurrency: "unbounded" })))
  )
}

const instanceAt = (index: number) =>
  Effect.map(Instances, (instances) => instances[index] ?? assert.fail("two instances run"))
const first = instanceAt(0)
const second = instanceAt(1)

describe("The up command", { timeout: 90_000 }, () => {
  const runtime = ManagedRuntime.make(Instances.Live)
  beforeAll(() => runtime.runPromise(Instances), 90_000)
  afterAll(() => runtime.dispose(), 90_000)

  const itRuns = (name: string, test: () => Effect.Effect<void, unknown, Instances | Scope.Scope>) =>
    it(name, () => runtime.runPromise(Effect.scoped(test())))

  itRuns("starts a service that is ready beside another instance", () =>
    Effect.gen(function* () {
      for (const { output, port } of yield* Instances) {
        assert.strictEqual(yield* readinessStatus(port), 200)
        assert.include(output(), `http://${localhost}:${port}/docs`)
        assert.match(output(), new RegExp(`http://${localhost}:${port}/console#code=[\\w-]{43}\\n`))
      }
    })
  )

  itRuns("fails in the folder of a running instance", () =>
    Effect.gen(function* () {
      const running = yield* first
      const instance = yield* launch(running.folder, (yield* makePlace).port)
      assert.strictEqual(yield* instance.ended, 1)
      assert.include(instance.output(), `Another instance (process ${running.process.pid})`)
    })
  )

  itRuns("fails on the port of a running instance", () =>
    Effect.gen(function* () {
      const { port } = yield* first
      const instance = yield* launch((yield* makePlace).folder, port)
      assert.strictEqual(yield* instance.ended, 1)
      assert.include(instance.output(), `Port ${port} on ${localhost} is taken`)
    })
  )

  itRuns("restarts a killed API process", () =>
    Effect.gen(function* () {
      const instance = yield* first
      const killed = apiPidOf(instance)
      process.kill(killed, "SIGKILL")
      yield* until(() => instance.output().includes("api stopped (signal SIGKILL); starting again in 0.2 s"))
      yield* readinessStatus(instance.port).pipe(Effect.repeat({ until: (status) => status === 200 }))
      assert.notStrictEqual(apiPidOf(instance), killed)
    })
  )

  itRuns("stops all its processes on SIGTERM", () =>
    Effect.gen(function* () {
      const instance = yield* first
      const children = pidsOf(instance)
      assert.isAtLeast(children.length, 4)
      instance.process.kill("SIGTERM")
      assert.strictEqual(yield* instance.ended, 0)
      assert.deepStrictEqual(children.filter(isRunning), [])
      assert.isTrue(instance.output().endsWith("Stopped\n"))
    })
  )

  itRuns(
    "starts again after SIGKILL, ends the orphaned processes and stops when SIGINT arrives twice, as under npm",
    () =>
      Effect.gen(function* () {
        const killed = yield* second
        const orphans = pidsOf(killed)
        killed.process.kill("SIGKILL")
        yield* killed.ended
        const instance = yield* start(killed.folder, killed.port)
        assert.strictEqual(yield* readinessStatus(killed.port), 200)
        yield* until(() => !orphans.some(isRunning))

        const children = pidsOf(instance)
        instance.process.kill("SIGINT")
        yield* until(() => instance.output().includes("Stopping"))
        instance.process.kill("SIGINT")
        assert.strictEqual(yield* instance.ended, 0)
        assert.deepStrictEqual(children.filter(isRunning), [])
      })
  )
})
