import { Effect, Fiber } from "effect"
import { assert, describe, it } from "vitest"
import { yieldToEventLoop } from "../../../../src/layers/infra/concurrency/EventLoop.ts"
import { RequestShare } from "../../../../src/layers/infra/concurrency/RequestShare.ts"

const sleepInLoop = () => new Promise<void>((resolve) => setImmediate(resolve))

describe("yieldToEventLoop", () => {
  it("continues one fiber in each turn of the event loop, in the order of their calls", async () => {
    const order: Array<string> = []
    const work = (name: string) =>
      Effect.zipRight(
        yieldToEventLoop,
        Effect.sync(() => order.push(name))
      )
    const running = Effect.runPromise(Effect.forEach(["a", "b", "c"], work, { concurrency: "unbounded" }))
    for (let turn = 1; turn <= 3; turn++) {
      await sleepInLoop()
      order.push(`turn ${turn}`)
    }
    await running
    const turns = order.join(" ")
    assert.match(turns, /a.* turn .*b.* turn .*c/)
  })

  it("gives callers turns, however many fibers each has", async () => {
    const order: Array<string> = []
    const work = (name: string) =>
      Effect.zipRight(
        yieldToEventLoop,
        Effect.sync(() => order.push(name))
      ).pipe(Effect.provideService(RequestShare, { keys: [name, "tenant"] }))
    await Effect.runPromise(Effect.forEach(["a", "a", "a", "a", "b", "b"], work, { concurrency: "unbounded" }))
    assert.deepStrictEqual(order, ["a", "b", "a", "b", "a", "a"])
  })

  it("does not wait for an interrupted fiber", async () => {
    const fiber = Effect.runFork(yieldToEventLoop)
    await Effect.runPromise(Fiber.interrupt(fiber))
    await Effect.runPromise(yieldToEventLoop)
  })
})
