import { Deferred, Effect, Exit, Fiber } from "effect"
import fc from "fast-check"
import { describe, expect, it } from "vitest"
import { makeCoalescer } from "../../../../src/layers/infra/auth/Coalescer.ts"

/** A source whose calls succeed with their number or fail when the test says so. */
const makeSource = () => {
  const calls: Deferred.Deferred<number, Error>[] = []
  return {
    callCount: () => calls.length,
    load: Effect.gen(function* () {
      const result = yield* Deferred.make<number, Error>()
      calls.push(result)
      return yield* Deferred.await(result)
    }),
    succeed: (number: number) => {
      const call = calls[number - 1]
      return call === undefined ? Effect.die(`there is no call ${number}`) : Deferred.succeed(call, number)
    },
    fail: (number: number) => {
      const call = calls[number - 1]
      return call === undefined
        ? Effect.die(`there is no call ${number}`)
        : Deferred.fail(call, new Error(`failure ${number}`))
    }
  }
}

/** Lets every fiber run until it waits. */
const settled = Effect.promise(() => new Promise<void>((resume) => setImmediate(resume)))

const steps = (count: number) => {
  let done = 0
  return Effect.whileLoop({ while: () => done++ < count, body: () => Effect.void, step: () => {} })
}

const run = <A, E>(work: Effect.Effect<A, E>) => Effect.runPromise(work)

describe("makeCoalescer", () => {
  it("loads once per request when requests do not overlap", () =>
    run(
      Effect.gen(function* () {
        const { succeed, load, callCount } = makeSource()
        const share = makeCoalescer<number, Error>()
        for (const number of [1, 2]) {
          const request = yield* Effect.fork(share("a", load))
          yield* settled
          yield* succeed(number)
          expect(yield* Fiber.join(request)).toBe(number)
        }
        expect(callCount()).toBe(2)
      })
    ))

  it("loads a second time for all requests that arrive during the first load", () =>
    run(
      Effect.gen(function* () {
        const { succeed, load, callCount } = makeSource()
        const share = makeCoalescer<number, Error>()
        const first = yield* Effect.fork(share("a", load))
        yield* settled
        const waiting = yield* Effect.forEach(Array.from({ length: 20 }), () => Effect.fork(share("a", load)))
        yield* settled
        expect(callCount()).toBe(1)
        yield* succeed(1)
        expect(yield* Fiber.join(first)).toBe(1)
        yield* settled
        expect(callCount()).toBe(2)
        yield* succeed(2)
        expect(yield* Effect.forEach(waiting, Fiber.join)).toEqual(Array.from({ length: 20 }, () => 2))
      })
    ))

  it("does not share results between different keys", () =>
    run(
      Effect.gen(function* () {
        const { succeed, load } = makeSource()
        const share = makeCoalescer<number, Error>()
        const one = yield* Effect.fork(share("a", load))
        const other = yield* Effect.fork(share("b", load))
        yield* settled
        yield* succeed(2)
        expect(yield* Fiber.join(other)).toBe(2)
        yield* succeed(1)
        expect(yield* Fiber.join(one)).toBe(1)
      })
    ))

  it("shares a failure and loads again after it", () =>
    run(
      Effect.gen(function* () {
        const { succeed, load, fail } = makeSource()
        const share = makeCoalescer<number, Error>()
        const first = yield* Effect.fork(share("a", load))
        yield* settled
        const second = yield* Effect.fork(share("a", load))
        const third = yield* Effect.fork(share("a", load))
        yield* settled
        yield* fail(1)
        expect(Exit.isFailure(yield* Fiber.await(first))).toBe(true)
        yield* settled
        yield* fail(2)
        expect(Exit.isFailure(yield* Fiber.await(second))).toBe(true)
        expect(Exit.isFailure(yield* Fiber.await(third))).toBe(true)
        const fourth = yield* Effect.fork(share("a", load))
        yield* settled
        yield* succeed(3)
        expect(yield* Fiber.join(fourth)).toBe(3)
      })
    ))

  it("completes the waiting requests when the request that loads is interrupted", () =>
    run(
      Effect.gen(function* () {
        const { succeed, load } = makeSource()
        const share = makeCoalescer<number, Error>()
        const first = yield* Effect.fork(share("a", load))
        yield* settled
        const leading = yield* Effect.fork(share("a", load))
        const following = yield* Effect.fork(share("a", load))
        yield* settled
        yield* Fiber.interruptFork(first)
        yield* Fiber.interruptFork(leading)
        yield* settled
        yield* succeed(1)
        yield* settled
        yield* succeed(2)
        expect(yield* Fiber.join(following)).toBe(2)
      })
    ))

  // A fiber yields after 2048 steps: the loop tries each position of that yield.
  it("completes a request whose fiber yields at any step while it joins", () =>
    run(
      Effect.forEach(Array.from({ length: 100 }), (_, n) =>
        Effect.gen(function* () {
          const { succeed, load, callCount } = makeSource()
          const share = makeCoalescer<number, Error>()
          const first = yield* Effect.fork(share("a", load))
          yield* settled
          const late = yield* succeed(1).pipe(
            Effect.zipRight(steps(1960 + n)),
            Effect.zipRight(share("a", load)),
            Effect.fork
          )
          yield* settled
          expect(callCount()).toBe(2)
          yield* succeed(2)
          expect(yield* Fiber.join(first)).toBe(1)
          expect(yield* Fiber.join(late)).toBe(2)
        })
      )
    ))

  it("never returns a result whose load began before the request, in any order of events", () =>
    fc.assert(
      fc.asyncProperty(
        fc.array(fc.oneof(fc.constant("complete" as const), fc.constantFrom("a", "b")), { maxLength: 60 }),
        (steps) =>
          run(
            Effect.gen(function* () {
              const sources = { a: makeSource(), b: makeSource() }
              const completed = { a: 0, b: 0 }
              const share = makeCoalescer<number, Error>()
              const completeAll = Effect.forEach(["a", "b"] as const, (key) =>
                Effect.gen(function* () {
                  if (completed[key] === sources[key].callCount()) return
                  yield* sources[key].succeed(++completed[key])
                  yield* settled
                })
              )
              const requests: Array<{ readonly before: number; readonly fiber: Fiber.Fiber<number, Error> }> = []
              for (const step of steps) {
                if (step === "complete") yield* completeAll
                else {
                  const { load, callCount } = sources[step as "a" | "b"] // the only other values
                  requests.push({ before: callCount(), fiber: yield* Effect.fork(share(step, load)) })
                  yield* settled
                }
              }
              while (completed.a < sources.a.callCount() || completed.b < sources.b.callCount()) yield* completeAll
              for (const { before, fiber } of requests) expect(yield* Fiber.join(fiber)).toBe(before + 1)
            })
          )
      )
    ))
})
