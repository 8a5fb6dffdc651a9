import { Either } from "effect"
import { afterEach, assert, beforeEach, describe, it, vi } from "vitest"
import type { FairSemaphoreLimits } from "../../../../src/layers/infra/concurrency/FairSemaphore.ts"
import { KeyUsage } from "../../../../src/layers/infra/concurrency/KeyUsage.ts"
import { makeJobs, resultOf, settled } from "../../../support/fixtures/semaphoreJobs.ts"

describe("The time of makeFairSemaphore", () => {
  beforeEach(() => void vi.useFakeTimers({ toFake: ["performance", "setInterval", "clearInterval"] }))
  afterEach(() => void vi.useRealTimers())

  it("is shared: who has used permits for longer waits, even if it holds none now", async () => {
    const { started, finish, start } = makeJobs({ permits: 2, maxPerKey: 2 })
    start("slow")
    start("quick")
    await settled()
    vi.advanceTimersByTime(1000)
    await finish("slow 0")
    start("other")
    start("slow")
    start("new")
    await settled()
    await finish("other 2")
    assert.deepStrictEqual(started, ["slow 0", "quick 1", "other 2", "new 4"])
    await finish("new 4")
    assert.strictEqual(started.at(-1), "slow 3")
  })

  it("bounds the permits of a key whose work is slow while others work, and only then", async () => {
    const { finish, running, start } = makeJobs({ permits: 8, maxPerKey: 6, maxPerSlowKey: 2 })
    const slow = () => [...running.keys()].filter((name) => name.startsWith("slow/"))
    for (let n = 0; n < 9; n++) start("slow", "tenant")
    await settled()
    assert.lengthOf(slow(), 6)
    vi.advanceTimersByTime(1000)
    start("quick", "other")
    await settled()
    for (const name of slow().slice(0, 3)) await finish(name)
    assert.lengthOf(slow(), 3)
    for (const name of slow().slice(0, 2)) await finish(name)
    assert.lengthOf(slow(), 2)
    vi.advanceTimersByTime(3000)
    await settled()
    assert.lengthOf(slow(), 2)
    await finish("quick/other 9")
    vi.advanceTimersByTime(3000)
    await settled()
    assert.lengthOf(slow(), 4)
  })

  it("is shared by the callers of one tenant, too: turns alone would favor slow work", async () => {
    const { started, finish, start } = makeJobs({ permits: 2, maxPerKey: 2 })
    start("slow", "tenant")
    start("slow", "tenant")
    await settled()
    vi.advanceTimersByTime(1000)
    start("slow", "tenant")
    start("quick", "tenant")
    await finish("slow/tenant 0")
    start("quick", "tenant")
    await finish("quick/tenant 3")
    assert.deepStrictEqual(started.slice(2), ["quick/tenant 3", "quick/tenant 4"])
  })

  it("is forgotten, although sums of it are fractions", () => {
    const usage = new KeyUsage()
    const times = [0.2, 0.5, 0.4].map((fraction) => 1e6 + fraction)
    for (const [grant, time] of times.entries()) usage.take(grant, time)
    for (const time of times) usage.giveBack(time, 1e6 + 1)
    assert.isTrue(usage.isIdle(1e6 + 60_000))
  })

  it("counts for less as it passes", async () => {
    const { started, finish, start } = makeJobs({ permits: 1, maxPerKey: 1 })
    start("early")
    await settled()
    vi.advanceTimersByTime(1000)
    await finish("early 0")
    vi.advanceTimersByTime(2000)
    start("late")
    await settled()
    vi.advanceTimersByTime(1000)
    start("late")
    start("early")
    await finish("late 1")
    assert.strictEqual(started.at(-1), "early 3")
  })
})

describe("A queue of makeFairSemaphore with `standing`", () => {
  beforeEach(() => void vi.useFakeTimers({ toFake: ["performance", "setInterval", "clearInterval"] }))
  afterEach(() => void vi.useRealTimers())

  const standing = { wait: "100 millis", duration: "1 second", maxQueued: 50 } as const
  const makeBurst = (count: number, own: Partial<FairSemaphoreLimits> = {}) => {
    const jobs = makeJobs({ permits: 1, maxPerKey: 1, maxQueuedPerKey: 8, maxQueued: 12, standing, ...own })
    const burst = Array.from({ length: count }, () => jobs.start("burst"))
    return { ...jobs, burst }
  }
  const pass = async (millis: number) => {
    vi.advanceTimersByTime(millis)
    await settled()
  }
  const waitingOf = (jobs: ReadonlyArray<ReturnType<ReturnType<typeof makeJobs>["start"]>>) =>
    jobs.filter(({ fiber }) => fiber.unsafePoll() === null)

  it("takes a burst beyond its maxima and serves all of it within a second", async () => {
    const { burst, finish, started } = makeBurst(30)
    await settled()
    while (started.length < 30) {
      await pass(30)
      await finish(started.at(-1) ?? "")
    }
    await finish(started.at(-1) ?? "")
    for (const { fiber } of burst) assert.isTrue(Either.isRight(await resultOf(fiber)))
  })

  it("loses its oldest work beyond its maximum when work has waited too long for a second", async () => {
    const { burst, semaphore, start, started } = makeBurst(30)
    await pass(1050)
    assert.strictEqual(semaphore.queued(), 29)
    assert.isFalse(semaphore.isQueueFull("burst"))
    await pass(100)
    assert.deepStrictEqual(
      waitingOf(burst).map(({ name }) => name),
      [burst.at(0), ...burst.slice(-8)].map((job) => job?.name)
    )
    assert.isTrue(semaphore.isQueueFull("burst"))
    const cut = await resultOf(burst.at(1)?.fiber ?? assert.fail())
    assert.deepInclude(Either.isLeft(cut) ? cut.left : {}, { _tag: "QueueFull", scope: "key" })
    const rejected = await resultOf(start("burst").fiber)
    assert.deepInclude(Either.isLeft(rejected) ? rejected.left : {}, { _tag: "QueueFull", scope: "key" })
    assert.lengthOf(started, 1)
  })

  it("stands until little of it is left, and takes a burst again then", async () => {
    const { finish, semaphore, start, started } = makeBurst(30)
    await pass(1150)
    for (let served = 0; served < 6; served++) {
      await finish(started.at(-1) ?? "")
      await pass(50)
    }
    assert.strictEqual(semaphore.queued(), 2)
    for (let n = 0; n < 6; n++) start("burst")
    assert.isTrue(semaphore.isQueueFull("burst"))
    for (let served = 0; served < 7; served++) {
      await finish(started.at(-1) ?? "")
      await pass(50)
    }
    for (let n = 0; n < 20; n++) start("burst")
    await settled()
    assert.strictEqual(semaphore.queued(), 21)
  })

  it("is cut sooner if it stood in the last ten seconds", async () => {
    const { finish, semaphore, start, started } = makeBurst(30)
    await pass(1150)
    while (semaphore.queued() > 0) await finish(started.at(-1) ?? "")
    const startMore = () => Array.from({ length: 20 }, () => start("burst"))
    startMore()
    await pass(250)
    assert.strictEqual(semaphore.queued(), 8)
    while (semaphore.queued() > 0) await finish(started.at(-1) ?? "")
    await pass(10_000)
    startMore()
    await pass(250)
    assert.strictEqual(semaphore.queued(), 20)
  })

  it("is cut to the maximum of all queues together if it is the longest", async () => {
    const { burst, semaphore, start } = makeBurst(6)
    const others = Array.from({ length: 10 }, (_, n) => start(`other ${n}`))
    await pass(1150)
    assert.strictEqual(semaphore.queued(), 12)
    assert.isTrue(semaphore.isStanding())
    assert.deepStrictEqual([waitingOf(burst).length, waitingOf(others).length], [3, 10])
    const cut = await resultOf(burst.at(1)?.fiber ?? assert.fail())
    assert.deepInclude(Either.isLeft(cut) ? cut.left : {}, { _tag: "QueueFull", scope: "all" })
  })

  it("takes nothing from others while it waits for its own key alone", async () => {
    const { burst, semaphore, start } = makeBurst(30, { permits: 3 })
    await pass(1150)
    assert.lengthOf(waitingOf(burst), 9)
    const others = Array.from({ length: 10 }, () => start("other"))
    await pass(200)
    assert.lengthOf(waitingOf(others), 10)
    assert.strictEqual(semaphore.queued(), 17)
  })

  it("counts the work of one key in many queues when all queues together are cut", async () => {
    const { semaphore, start } = makeJobs({ permits: 1, maxPerKey: 1, maxQueuedPerKey: 20, maxQueued: 12, standing })
    start("first")
    const wide = Array.from({ length: 10 }, (_, n) => start("wide", `tenant ${n}`))
    const narrow = Array.from({ length: 6 }, () => start("narrow"))
    await pass(1150)
    assert.strictEqual(semaphore.queued(), 12)
    assert.deepStrictEqual([waitingOf(wide).length, waitingOf(narrow).length], [6, 6])
  })

  it("is bounded in a burst, too", async () => {
    const { semaphore, start } = makeBurst(60)
    await settled()
    assert.strictEqual(semaphore.queued(), 50)
    const late = start("other")
    await settled()
    assert.isNull(late.fiber.unsafePoll())
    assert.strictEqual(semaphore.queued(), 50)
  })
})
