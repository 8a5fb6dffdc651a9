import { Effect, Either, Fiber, identity } from "effect"
import fc from "fast-check"
import { assert, describe, it } from "vitest"
import {
  type AcquireOptions,
  type FairSemaphoreLimits,
  makeFairSemaphore
} from "../../../src/layers/concurrency/FairSemaphore.ts"

const limits: FairSemaphoreLimits = { permits: 4, maxPerKey: 3, maxQueuedPerKey: 5, maxQueued: 12, timeout: "1 minute" }

/** Jobs that hold their permits until they are told to finish. */
const makeJobs = (own: Partial<FairSemaphoreLimits> = {}) => {
  const semaphore = makeFairSemaphore({ ...limits, ...own }, identity)
  const begun: Array<string> = []
  const holding = new Map<string, () => void>()
  let count = 0

  const start = (...keys: ReadonlyArray<string>) => startWith({}, ...keys)
  const startWith = (options: AcquireOptions, ...keys: ReadonlyArray<string>) => {
    const name = `${keys.join("/")} ${count++}`
    const work = Effect.async<void>((resume) => {
      begun.push(name)
      holding.set(name, () => resume(Effect.void))
    }).pipe(Effect.ensuring(Effect.sync(() => holding.delete(name))))
    return { name, keys, fiber: Effect.runFork(semaphore.withPermit(keys, work, options)) }
  }
  const finish = async (name: string) => {
    holding.get(name)?.()
    await settled()
  }
  return { semaphore, begun, holding, start, startWith, finish }
}

const settled = () => new Promise<void>((resolve) => setImmediate(() => setImmediate(resolve)))

const resultOf = (fiber: Fiber.RuntimeFiber<void, { readonly _tag: string }>) =>
  Effect.runPromise(Effect.either(Fiber.join(fiber)))

describe("a fair semaphore", () => {
  it("lets one key alone have its maximum and no more", async () => {
    const { begun, start } = makeJobs()
    for (let n = 0; n < 5; n++) start("a")
    await settled()
    assert.deepStrictEqual(begun, ["a 0", "a 1", "a 2"])
  })

  it("gives the next permit to the key that holds fewest, however many wait before it", async () => {
    const { begun, finish, start } = makeJobs({ permits: 3 })
    for (let n = 0; n < 6; n++) start("busy")
    start("late")
    await settled()
    await finish("busy 0")
    assert.deepStrictEqual(begun, ["busy 0", "busy 1", "busy 2", "late 6"])
  })

  it("counts many tenants of one caller as one, and many callers of one tenant too", async () => {
    for (const keysOf of [(n: number) => ["caller", `tenant ${n}`], (n: number) => [`caller ${n}`, "tenant"]]) {
      const { begun, finish, start } = makeJobs({ permits: 1, maxPerKey: 1 })
      for (let n = 0; n < 5; n++) start(...keysOf(n))
      start("other caller", "other tenant")
      start("other caller", "other tenant")
      await settled()
      for (let n = 0; n < 4; n++) await finish(begun.at(-1) ?? "")
      const turns = begun.map((name) => (name.startsWith("other") ? "other" : "same"))
      assert.deepStrictEqual(turns, ["same", "other", "same", "other", "same"])
    }
  })

  it("refuses a key whose own queue is full, and still takes others", async () => {
    const { semaphore, start } = makeJobs({ maxPerKey: 1, maxQueuedPerKey: 2 })
    for (let n = 0; n < 3; n++) start("a")
    await settled()
    assert.isTrue(semaphore.isQueueFull("a"))
    const refused = await resultOf(start("a").fiber)
    assert.deepInclude(Either.isLeft(refused) ? refused.left : {}, { _tag: "QueueFull", scope: "key" })
    start("b")
    await settled()
    assert.strictEqual(semaphore.permitsInUse(), 2)
  })

  it("makes room in full queues at the expense of the longest", async () => {
    const { semaphore, start } = makeJobs({ permits: 1, maxPerKey: 1, maxQueued: 4 })
    const all = Array.from({ length: 5 }, () => start("many"))
    await settled()
    const late = start("few")
    const evicted = await resultOf(all[4]?.fiber ?? late.fiber)
    assert.deepInclude(Either.isLeft(evicted) ? evicted.left : {}, { _tag: "QueueFull", scope: "all" })
    assert.strictEqual(semaphore.queued(), 4)
    // The longest queue itself gets no room that way.
    const refused = await resultOf(start("many").fiber)
    assert.deepInclude(Either.isLeft(refused) ? refused.left : {}, { _tag: "QueueFull", scope: "all" })
  })

  it("queues work without bounds where that is asked for, and never puts it out again", async () => {
    const { begun, finish, semaphore, start, startWith } = makeJobs({ permits: 1, maxQueuedPerKey: 1, maxQueued: 2 })
    for (let n = 0; n < 5; n++) startWith({ isUnbounded: true }, "a")
    await settled()
    assert.strictEqual(semaphore.queued(), 4)
    const refused = await resultOf(start("b").fiber)
    assert.deepInclude(Either.isLeft(refused) ? refused.left : {}, { _tag: "QueueFull", scope: "all" })
    for (let n = 0; n < 5; n++) await finish(begun.at(-1) ?? "")
    assert.lengthOf(begun, 5)
  })

  it("gives a caller who spreads over many tenants no more than one who has one, while both want more", async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(fc.nat(), { minLength: 100, maxLength: 200 }), async (finishes) => {
        const { finish, holding, start } = makeJobs({ permits: 16, maxPerKey: 16, maxQueuedPerKey: 99, maxQueued: 999 })
        for (let n = 0; n < 32; n++) {
          start("wide", `tenant${n}`)
          start("narrow", "own")
        }
        for (const nth of finishes) {
          const name = [...holding.keys()][nth % holding.size] ?? ""
          start(...(name.split(" ")[0]?.split("/") ?? []))
          await finish(name)
        }
        for (const caller of ["wide", "narrow"]) {
          assert.closeTo(
            countOf(holding.keys(), (name) => name.startsWith(caller)),
            8,
            1
          )
        }
      }),
      { numRuns: 20 }
    )
  })

  it("makes room at the expense of another queue where all in the longest must stay", async () => {
    const { semaphore, start, startWith } = makeJobs({ permits: 1, maxPerKey: 1, maxQueued: 7 })
    for (let n = 0; n < 5; n++) startWith({ isUnbounded: true }, "unbounded")
    const bounded = Array.from({ length: 3 }, () => start("bounded"))
    await settled()
    assert.strictEqual(semaphore.queued(), 7)
    const late = start("late")
    await settled()
    assert.isNull(late.fiber.unsafePoll(), "it waits")
    assert.deepStrictEqual(
      bounded.map(({ fiber }) => fiber.unsafePoll() === null),
      [true, true, false]
    )
    const evicted = await resultOf(bounded[2]?.fiber ?? late.fiber)
    assert.deepInclude(Either.isLeft(evicted) ? evicted.left : {}, { _tag: "QueueFull", scope: "all" })
    assert.strictEqual(semaphore.queued(), 7)
  })

  it("knows what a key holds although one of it was put out of the queue just before the next came", async () => {
    const { begun, finish, start, startWith } = makeJobs({ permits: 3, maxPerKey: 1, maxQueued: 3 })
    for (const key of ["a", "b", "c"]) start(key)
    const [putOut] = ["x", "y", "z"].map((key) => start("a", key))
    const rival = start("rival")
    // Who was put out has not left yet when its key is asked for again.
    const again = startWith({ isUnbounded: true }, "x")
    await settled()
    assert.isNotNull(putOut?.fiber.unsafePoll())
    await Effect.runPromise(Fiber.interrupt(rival.fiber))
    for (const name of ["b 1", "c 2"]) await finish(name)
    const more = start("x")
    await settled()
    assert.include(begun, again.name)
    assert.notInclude(begun, more.name)
    await finish(again.name)
    assert.include(begun, more.name)
  })

  it("gives up after the timeout and leaves nothing behind", async () => {
    const { finish, semaphore, start } = makeJobs({ permits: 1, timeout: "20 millis" })
    const first = start("a")
    const late = start("b")
    const result = await resultOf(late.fiber)
    assert.deepInclude(Either.isLeft(result) ? result.left : {}, { _tag: "QueueTimeout" })
    assert.strictEqual(semaphore.queued(), 0)
    await finish(first.name)
    assert.strictEqual(semaphore.permitsInUse(), 0)
  })

  it("passes the permit of interrupted work on", async () => {
    const { begun, semaphore, start } = makeJobs({ permits: 1 })
    const first = start("a")
    const waiting = start("b")
    start("c")
    await settled()
    await Effect.runPromise(Fiber.interrupt(waiting.fiber))
    await Effect.runPromise(Fiber.interrupt(first.fiber))
    await settled()
    assert.deepStrictEqual(begun, ["a 0", "c 2"])
    assert.strictEqual(semaphore.queued(), 0)
  })
})

type Step = { readonly start: ReadonlyArray<string> } | { readonly finish: number } | { readonly interrupt: number }

const keys = fc.tuple(fc.constantFrom("u1", "u2", "u3"), fc.constantFrom("t1", "t2", "t3"))
const steps = fc.array(
  fc.oneof(
    { weight: 4, arbitrary: fc.record({ start: keys }) as fc.Arbitrary<Step> },
    { weight: 2, arbitrary: fc.record({ finish: fc.nat(20) }) as fc.Arbitrary<Step> },
    { weight: 1, arbitrary: fc.record({ interrupt: fc.nat(20) }) as fc.Arbitrary<Step> }
  ),
  { maxLength: 60 }
)

const countOf = <A>(items: Iterable<A>, matches: (item: A) => boolean) => [...items].filter(matches).length

describe("a fair semaphore under any sequence of arrivals, ends and interruptions", () => {
  it("keeps its bounds, idles no permit that somebody may have, and ends empty", async () => {
    await fc.assert(
      fc.asyncProperty(steps, async (all) => {
        const { begun, finish, holding, semaphore, start } = makeJobs()
        const jobs: Array<ReturnType<typeof start>> = []
        const isHeld = (key: string) => countOf(holding.keys(), (name) => name.split(/[/ ]/).includes(key))
        for (const step of all) {
          if ("start" in step) jobs.push(start(...step.start))
          else if ("finish" in step) await finish([...holding.keys()][step.finish % Math.max(1, holding.size)] ?? "")
          else {
            const job = jobs[step.interrupt % Math.max(1, jobs.length)]
            if (job !== undefined) await Effect.runPromise(Fiber.interrupt(job.fiber))
          }
          await settled()
          const waiting = jobs.filter(({ fiber, name }) => fiber.unsafePoll() === null && !holding.has(name))
          assert.strictEqual(semaphore.permitsInUse(), holding.size)
          assert.strictEqual(semaphore.queued(), waiting.length)
          assert.isAtMost(holding.size, limits.permits)
          assert.isAtMost(waiting.length, limits.maxQueued)
          for (const key of ["u1", "u2", "u3", "t1", "t2", "t3"]) {
            assert.isAtMost(isHeld(key), limits.maxPerKey)
            assert.isAtMost(
              countOf(waiting, (job) => job.keys.includes(key)),
              limits.maxQueuedPerKey
            )
          }
          if (holding.size < limits.permits) {
            assert.isTrue(waiting.every((job) => job.keys.some((key) => isHeld(key) === limits.maxPerKey)))
          }
        }
        while (holding.size > 0) await finish([...holding.keys()][0] ?? "")
        assert.strictEqual(semaphore.permitsInUse(), 0)
        assert.strictEqual(semaphore.queued(), 0)
        // Under the same keys the first to come is the first to begin.
        const numbers = new Map<string, number>()
        for (const name of begun) {
          const [lane = "", number] = name.split(" ")
          assert.isAbove(Number(number), numbers.get(lane) ?? -1)
          numbers.set(lane, Number(number))
        }
      }),
      { numRuns: 200 }
    )
  })
})
