import { Deferred, Effect, Exit, Fiber } from "effect"
import { assert, describe, it } from "vitest"
import { makeSingleFlight } from "../../../../src/layers/infra/concurrency/SingleFlight.ts"

/** Work that ends when the test completes its Deferred, and counts its interruptions. */
const makeWork = () => {
  const share = makeSingleFlight<string, string>()
  const ends: Array<Deferred.Deferred<string, string>> = []
  let interrupted = 0
  const work = Effect.gen(function* () {
    const end = yield* Deferred.make<string, string>()
    ends.push(end)
    return yield* Effect.onInterrupt(Deferred.await(end), () => Effect.sync(() => interrupted++))
  })
  return {
    ends,
    interrupted: () => interrupted,
    run: (key = "key") => Effect.runFork(share(key, work))
  }
}

const settled = () => new Promise<void>((resolve) => setImmediate(() => setImmediate(resolve)))

const endWith = async (exit: Exit.Exit<string, string>, end?: Deferred.Deferred<string, string>) => {
  await Effect.runPromise(Deferred.done(end ?? assert.fail("the work has not started"), exit))
}

describe("makeSingleFlight", () => {
  it("runs the work once for concurrent calls and again for a later call", async () => {
    const { run, ends } = makeWork()
    const fibers = [run(), run(), run()]
    await settled()
    await endWith(Exit.succeed("first"), ends[0])
    const results = await Promise.all(fibers.map((fiber) => Effect.runPromise(Fiber.join(fiber))))
    assert.deepStrictEqual(results, ["first", "first", "first"])
    const later = run()
    await settled()
    await endWith(Exit.succeed("second"), ends[1])
    assert.strictEqual(await Effect.runPromise(Fiber.join(later)), "second")
    assert.lengthOf(ends, 2)
  })

  it("runs the work of different keys separately", async () => {
    const { run, ends } = makeWork()
    const fibers = [run("a"), run("b")]
    await settled()
    assert.lengthOf(ends, 2)
    for (const end of ends) await endWith(Exit.succeed("done"), end)
    await Promise.all(fibers.map((fiber) => Effect.runPromise(Fiber.join(fiber))))
  })

  it("shares a failure with all concurrent calls", async () => {
    const { run, ends } = makeWork()
    const fibers = [run(), run()]
    await settled()
    await endWith(Exit.fail("no"), ends[0])
    for (const fiber of fibers) assert.strictEqual(await Effect.runPromise(Effect.flip(Fiber.join(fiber))), "no")
  })

  it("interrupts the work when its last caller is interrupted", async () => {
    const { run, ends, interrupted } = makeWork()
    const [first, second] = [run(), run()]
    await settled()
    await Effect.runPromise(Fiber.interrupt(first))
    await settled()
    assert.strictEqual(interrupted(), 0)
    await Effect.runPromise(Fiber.interrupt(second))
    await settled()
    assert.strictEqual(interrupted(), 1)
    const next = run()
    await settled()
    await endWith(Exit.succeed("restarted"), ends[1])
    assert.strictEqual(await Effect.runPromise(Fiber.join(next)), "restarted")
  })
})
