import { Effect, Either, Fiber } from "effect"
import fc from "fast-check"
import { assert, describe, it, onTestFinished, vi } from "vitest"
import { limits, makeJobs, resultOf, settled } from "../../../support/fixtures/semaphoreJobs.ts"

describe("makeFairSemaphore", () => {
  it("gives a single key no more than its maximum", async () => {
    const { started, start } = makeJobs()
    for (let n = 0; n < 5; n++) start("a")
    await settled()
    assert.deepStrictEqual(started, ["a 0", "a 1", "a 2"])
  })

  it("gives the next permit to the key with the fewest permits, whatever the queue length", async () => {
    const { started, finish, start } = makeJobs({ permits: 3 })
    for (let n = 0; n < 6; n++) start("busy")
    start("late")
    await settled()
    await finish("busy 0")
    assert.deepStrictEqual(started, ["busy 0", "busy 1", "busy 2", "late 6"])
  })

  it("counts jobs of one caller in many tenants together, and of many callers in one tenant", async () => {
    for (const keysOf of [(n: number) => ["caller", `tenant ${n}`], (n: number) => [`caller ${n}`, "tenant"]]) {
      const { started, finish, start } = makeJobs({ permits: 1, maxPerKey: 1 })
      for (let n = 0; n < 5; n++) start(...keysOf(n))
      start("other caller", "other tenant")
      start("other caller", "other tenant")
      await settled()
      for (let n = 0; n < 4; n++) await finish(started.at(-1) ?? "")
      const order = started.map((name) => (name.startsWith("other") ? "other" : "same"))
      assert.deepStrictEqual(order, ["same", "other", "same", "other", "same"])
    }
  })

  it("rejects a key whose own queue is full and accepts other keys", async () => {
    const { semaphore, start } = makeJobs({ maxPerKey: 1, maxQueuedPerKey: 2 })
    for (let n = 0; n < 3; n++) start("a")
    await settled()
    assert.isTrue(semaphore.isQueueFull("a"))
    const rejected = await resultOf(start("a").fiber)
    assert.deepInclude(Either.isLeft(rejected) ? rejected.left : {}, { _tag: "QueueFull", scope: "key" })
    start("b")
    await settled()
    assert.strictEqual(semaphore.permitsInUse(), 2)
  })

  it("evicts a job of the longest queue when all queues are full", async () => {
    const { semaphore, start } = makeJobs({ permits: 1, maxPerKey: 1, maxQueued: 4 })
    const all = Array.from({ length: 5 }, () => start("many"))
    await settled()
    const late = start("few")
    const evicted = await resultOf(all[4]?.fiber ?? late.fiber)
    assert.deepInclude(Either.isLeft(evicted) ? evicted.left : {}, { _tag: "QueueFull", scope: "all" })
    assert.strictEqual(semaphore.queued(), 4)
    // A new job of the longest queue itself evicts nothing.
    const rejected = await resultOf(start("many").fiber)
    assert.deepInclude(Either.isLeft(rejected) ? rejected.left : {}, { _tag: "QueueFull", scope: "all" })
  })

  it("queues unbounded work beyond all limits and never evicts it", async () => {
    const { started, finish, semaphore, start, startWith } = makeJobs({ permits: 1, maxQueuedPerKey: 1, maxQueued: 2 })
    for (let n = 0; n < 5; n++) startWith({ isUnbounded: true }, "a")
    await settled()
    assert.strictEqual(semaphore.queued(), 4)
    const rejected = await resultOf(start("b").fiber)
    assert.deepInclude(Either.isLeft(rejected) ? rejected.left : {}, { _tag: "QueueFull", scope: "all" })
    for (let n = 0; n < 5; n++) await finish(started.at(-1) ?? "")
    assert.lengthOf(started, 5)
  })

  it("gives a caller with many tenants no more permits than a caller with one tenant", async () => {
    // On a busy host the jobs would take long enough that the time of their permits counts.
    vi.useFakeTimers({ toFake: ["performance"] })
    onTestFinished(() => void vi.useRealTimers())
    await fc.assert(
      fc.asyncProperty(fc.array(fc.nat(), { minLength: 100, maxLength: 200 }), async (finishes) => {
        const { finish, running, start } = makeJobs({ permits: 16, maxPerKey: 16, maxQueuedPerKey: 99, maxQueued: 999 })
        for (let n = 0; n < 32; n++) {
          start("wide", `tenant${n}`)
          start("narrow", "own")
        }
        for (const nth of finishes) {
          const name = [...running.keys()][nth % running.size] ?? ""
          start(...(name.split(" ")[0]?.split("/") ?? []))
          await finish(name)
        }
        for (const caller of ["wide", "narrow"]) {
          assert.closeTo(
            countOf(running.keys(), (name) => name.startsWith(caller)),
            8,
            1
          )
        }
      }),
      { numRuns: 20 }
    )
  })

  it("evicts a job of another queue when the longest has only unbounded jobs", async () => {
    const { semaphore, start, startWith } = makeJobs({ permits: 1, maxPerKey: 1, maxQueued: 7 })
    for (let n = 0; n < 5; n++) startWith({ isUnbounded: true }, "unbounded")
    const bounded = Array.from({ length: 3 }, () => start("bounded"))
    await settled()
    assert.strictEqual(semaphore.queued(), 7)
    const late = start("late")
    await settled()
    assert.isNull(late.fiber.unsafePoll(), "the job waits")
    assert.deepStrictEqual(
      bounded.map(({ fiber }) => fiber.unsafePoll() === null),
      [true, true, false]
    )
    const evicted = await resultOf(bounded[2]?.fiber ?? late.fiber)
    assert.deepInclude(Either.isLeft(evicted) ? evicted.left : {}, { _tag: "QueueFull", scope: "all" })
    assert.strictEqual(semaphore.queued(), 7)
  })

  it("keeps the count of a key whose job was evicted just before its next job arrives", async () => {
    const { started, finish, start, startWith } = makeJobs({ permits: 3, maxPerKey: 1, maxQueued: 3 })
    for (const key of ["a", "b", "c"]) start(key)
    const [evicted] = ["x", "y", "z"].map((key) => start("a", key))
    const rival = start("rival")
    // The evicted job has not ended yet when the next job of its key arrives.
    const again = startWith({ isUnbounded: true }, "x")
    await settled()
    assert.isNotNull(evicted?.fiber.unsafePoll())
    await Effect.runPromise(Fiber.interrupt(rival.fiber))
    for (const name of ["b 1", "c 2"]) await finish(name)
    const more = start("x")
    await settled()
    assert.include(started, again.name)
    assert.notInclude(started, more.name)
    await finish(again.name)
    assert.include(started, more.name)
  })

  it("fails after the timeout and leaves no queue entry", async () => {
    const { finish, semaphore, start } = makeJobs({ permits: 1, timeout: "20 millis" })
    const first = start("a")
    const late = start("b")
    const result = await resultOf(late.fiber)
    assert.deepInclude(Either.isLeft(result) ? result.left : {}, { _tag: "QueueTimeout" })
    assert.strictEqual(semaphore.queued(), 0)
    await finish(first.name)
    assert.strictEqual(semaphore.permitsInUse(), 0)
  })

  it("passes the permit of an interrupted job to the next job", async () => {
    const { started, semaphore, start } = makeJobs({ permits: 1 })
    const first = start("a")
    const waiting = start("b")
    start("c")
    await settled()
    await Effect.runPromise(Fiber.interrupt(waiting.fiber))
    await Effect.runPromise(Fiber.interrupt(first.fiber))
    await settled()
    assert.deepStrictEqual(started, ["a 0", "c 2"])
    assert.strictEqual(semaphore.queued(), 0)
  })
})

describe("The permits of makeFairSemaphore", () => {
  it("keep the last one for work whose keys have none", async () => {
    const { started, finish, start } = makeJobs()
    for (const keys of [
      ["a", "t"],
      ["a", "t"],
      ["b", "u"],
      ["b", "u"]
    ])
      start(...keys)
    await settled()
    assert.deepStrictEqual(started, ["a/t 0", "a/t 1", "b/u 2"])
    start("c", "t")
    await settled()
    assert.lengthOf(started, 3)
    start("c", "v")
    await settled()
    assert.deepStrictEqual(started.slice(3), ["c/v 5"])
    await finish("c/v 5")
    assert.lengthOf(started, 4)
    await finish("a/t 0")
    assert.lengthOf(started, 5)
  })

  it("of one caller leave some to other callers of its tenant, and all of these some to other tenants", async () => {
    const { started, start } = makeJobs({ permits: 6, maxPerKey: 3, maxPerGroup: 5 })
    for (const caller of ["a", "a", "a", "a", "b", "b", "b"]) start(caller, "t")
    await settled()
    assert.deepStrictEqual(started, ["a/t 0", "a/t 1", "a/t 2", "b/t 4", "b/t 5"])
    start("c", "u")
    await settled()
    assert.lengthOf(started, 6)
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

describe("makeFairSemaphore with any sequence of starts, ends and interruptions", () => {
  it("keeps its limits, leaves no usable permit idle and ends empty", async () => {
    await fc.assert(
      fc.asyncProperty(steps, async (all) => {
        const { started, finish, running, semaphore, start } = makeJobs()
        const jobs: Array<ReturnType<typeof start>> = []
        const permitsOf = (key: string) => countOf(running.keys(), (name) => name.split(/[/ ]/).includes(key))
        for (const step of all) {
          if ("start" in step) jobs.push(start(...step.start))
          else if ("finish" in step) await finish([...running.keys()][step.finish % Math.max(1, running.size)] ?? "")
          else {
            const job = jobs[step.interrupt % Math.max(1, jobs.length)]
            if (job !== undefined) await Effect.runPromise(Fiber.interrupt(job.fiber))
          }
          await settled()
          const waiting = jobs.filter(({ fiber, name }) => fiber.unsafePoll() === null && !running.has(name))
          assert.strictEqual(semaphore.permitsInUse(), running.size)
          assert.strictEqual(semaphore.queued(), waiting.length)
          assert.isAtMost(running.size, limits.permits)
          assert.isAtMost(waiting.length, limits.maxQueued)
          for (const key of ["u1", "u2", "u3", "t1", "t2", "t3"]) {
            assert.isAtMost(permitsOf(key), limits.maxPerKey)
            assert.isAtMost(
              countOf(waiting, (job) => job.keys.includes(key)),
              limits.maxQueuedPerKey
            )
          }
          const free = limits.permits - running.size
          // The last permit is for work whose keys have none.
          const isUsable = (permits: number) => (free === 1 ? permits === 0 : permits < limits.maxPerKey)
          if (free > 0) assert.isFalse(waiting.some((job) => job.keys.every((key) => isUsable(permitsOf(key)))))
        }
        while (running.size > 0) await finish([...running.keys()][0] ?? "")
        assert.strictEqual(semaphore.permitsInUse(), 0)
        assert.strictEqual(semaphore.queued(), 0)
        // Jobs with the same keys start in order of arrival.
        const numbers = new Map<string, number>()
        for (const name of started) {
          const [keys = "", number] = name.split(" ")
          assert.isAbove(Number(number), numbers.get(keys) ?? -1)
          numbers.set(keys, Number(number))
        }
      }),
      { numRuns: 200 }
    )
  })
})
