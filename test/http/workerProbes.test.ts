import { Deferred, Effect, Exit, Layer, Scope } from "effect"
import { assert, describe, it } from "vitest"
import { withProbes } from "../../src/http/WorkerProbes.ts"
import { runForever } from "../../src/workers/RunForever.ts"
import { workerNames } from "../../src/workers/registry.ts"
import { useFixture } from "../support/fixtures/useFixture.ts"
import { testLayers } from "../support/servers/layers.ts"
import { findClosedPort } from "../support/servers/proxy.ts"
import { startService } from "../support/servers/service.ts"
import { eventually, startWorker } from "../support/servers/worker.ts"

interface Health {
  readonly ready?: boolean
  readonly alive?: boolean
  readonly stopping?: boolean
  readonly loops?: Readonly<Record<string, string>>
}

const probe = async (port: number, path: string) => {
  const response = await fetch(`http://127.0.0.1:${port}${path}`)
  const body: Health = JSON.parse(await response.text())
  return { status: response.status, body }
}

describe("The health checks of a worker", () => {
  /** The relay declares the streams, which the other workers read. */
  const at = useFixture(async () => {
    const service = await startService({})
    const relay = await startWorker(service, "relay")
    const stop = async () => {
      await relay.stop()
      await service.stop()
    }
    return { ...service, stop }
  })

  /** Starts a worker of these loops. `stop` waits until all of them have ended. */
  const startLoops = async (worker: Layer.Layer<never>) => {
    const port = await findClosedPort()
    const scope = Effect.runSync(Scope.make())
    const layers = testLayers(at().database.url, { METRICS_PORT: String(port) })
    await Effect.runPromise(Layer.buildWithScope(Layer.provide(withProbes(worker), layers), scope))
    return { port, stop: () => Effect.runPromise(Scope.close(scope, Exit.void)) }
  }

  const loop = (...args: Parameters<typeof runForever>) =>
    // The loops of these tests need no services.
    Layer.scopedDiscard(Effect.forkScoped(runForever(...args) as Effect.Effect<never>))

  for (const name of workerNames)
    it(`answer 200 for the ${name}`, async () => {
      const port = await findClosedPort()
      const worker = await startWorker({ settings: { ...at().settings, METRICS_PORT: port } }, name)
      try {
        await eventually(async () => (await probe(port, "/readyz")).status === 200, "the worker is ready")
        const { body, status } = await probe(port, "/healthz")
        assert.strictEqual(status, 200)
        const states = Object.values(body.loops ?? {})
        assert.isNotEmpty(states)
        assert.notInclude(states, "STALLED")
      } finally {
        await worker.stop()
      }
    })

  it("name a loop that fails in /readyz only, until it works again", async () => {
    let isBroken = true
    const work = Effect.suspend(() => (isBroken ? Effect.fail("broken") : Effect.sleep("10 millis")))
    const { port, stop } = await startLoops(Layer.merge(loop("Broken", work), loop("Fine", Effect.sleep("10 millis"))))
    await eventually(async () => (await probe(port, "/readyz")).status === 503, "the failure shows")
    assert.deepStrictEqual((await probe(port, "/readyz")).body, {
      ready: false,
      loops: { Broken: "FAILING", Fine: "OK" }
    })
    assert.strictEqual((await probe(port, "/healthz")).status, 200)
    isBroken = false
    await eventually(async () => (await probe(port, "/readyz")).status === 200, "the loop works again")
    await stop()
  })

  it("name a loop without progress in /healthz", async () => {
    const { port, stop } = await startLoops(loop("Stuck", Effect.never, { stalledAfter: "100 millis" }))
    await eventually(async () => (await probe(port, "/healthz")).status === 503, "the stall shows")
    assert.deepStrictEqual((await probe(port, "/healthz")).body, { alive: false, loops: { Stuck: "STALLED" } })
    await stop()
  })

  it("answer that the worker stops, until its work has ended", async () => {
    const mayEnd = Effect.runSync(Deferred.make<void>())
    const work = Layer.scopedDiscard(Effect.addFinalizer(() => Deferred.await(mayEnd)))
    const { port, stop } = await startLoops(work)
    assert.strictEqual((await probe(port, "/readyz")).status, 200)
    const stopped = stop()
    await eventually(async () => (await probe(port, "/readyz")).status === 503, "it is not ready")
    assert.deepStrictEqual((await probe(port, "/readyz")).body, { ready: false, stopping: true })
    assert.strictEqual((await probe(port, "/healthz")).status, 200)
    Effect.runSync(Deferred.succeed(mayEnd, undefined))
    await stopped
    await probe(port, "/readyz").then(
      () => assert.fail("the probes still answer"),
      () => {}
    )
  })
})
