import { Deferred, Effect, Exit, Fiber } from "effect"
import { assert, describe, it } from "vitest"
import { makeSingleFlight } from "../../../src/layers/concurrency/SingleFlight.ts"

/** Work that ends when it is told how, and what happened to it. */
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
    ask: (key = "key") => Effect.runFork(share(key, work))
  }
}

const settled = () => new Promise<void>((resolve) => setImmediate(() => setImmediate(resolve)))

const endWith = async (exit: Exit.Exit<string, string>, end?: Deferred.Deferred<string, string>) => {
  await Effect.runPromise(Deferred.done(end ?? assert.fail("the work has not begun"), exit))
}

describe("a single flight", () => {
  it("does the work once for all who ask meanwhile, and again for who asks later", async () => {
    const { ask, ends } = makeWork()
    const asked = [ask(), ask(), ask()]
    await settled()
    await endWith(Exit.succeed("first"), ends[0])
    const answers = await Promise.all(asked.map((fiber) => Effect.runPromise(Fiber.join(fiber))))
    assert.deepStrictEqual(answers, ["first", "first", "first"])
    const later = ask()
    await settled()
    await endWith(Exit.succeed("second"), ends[1])
    assert.strictEqual(await Effect.runPromise(Fiber.join(later)), "second")
    assert.lengthOf(ends, 2)
  })

  it("does work for different keys apart", async () => {
    const { ask, ends } = makeWork()
    const asked = [ask("a"), ask("b")]
    await settled()
    assert.lengthOf(ends, 2)
    for (const end of ends) await endWith(Exit.succeed("done"), end)
    await Promise.all(asked.map((fiber) => Effect.runPromise(Fiber.join(fiber))))
  })

  it("shares a failure", async () => {
    const { ask, ends } = makeWork()
    const asked = [ask(), ask()]
    await settled()
    await endWith(Exit.fail("no"), ends[0])
    for (const fiber of asked) assert.strictEqual(await Effect.runPromise(Effect.flip(Fiber.join(fiber))), "no")
  })

  it("goes on while anybody waits, and ends with the last of them", async () => {
    const { ask, ends, interrupted } = makeWork()
    const [first, second] = [ask(), ask()]
    await settled()
    await Effect.runPromise(Fiber.interrupt(first))
    await settled()
    assert.strictEqual(interrupted(), 0)
    await Effect.runPromise(Fiber.interrupt(second))
    await settled()
    assert.strictEqual(interrupted(), 1)
    const next = ask()
    await settled()
    await endWith(Exit.succeed("anew"), ends[1])
    assert.strictEqual(await Effect.runPromise(Fiber.join(next)), "anew")
  })
})
