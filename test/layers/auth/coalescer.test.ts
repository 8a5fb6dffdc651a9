import { Deferred, Effect, Exit, Fiber } from "effect"
import fc from "fast-check"
import { describe, expect, it } from "vitest"
import { makeCoalescer } from "../../../src/layers/auth/Coalescer.ts"

/** A question whose answers, the number of times it was asked, come when they are told to. */
const makeSource = () => {
  const asked: Deferred.Deferred<number, Error>[] = []
  return {
    times: () => asked.length,
    ask: Effect.gen(function* () {
      const answer = yield* Deferred.make<number, Error>()
      asked.push(answer)
      return yield* Deferred.await(answer)
    }),
    answer: (time: number) => {
      const answer = asked[time - 1]
      return answer === undefined ? Effect.die(`never asked a ${time}th time`) : Deferred.succeed(answer, time)
    },
    fail: (time: number) => {
      const answer = asked[time - 1]
      return answer === undefined
        ? Effect.die(`never asked a ${time}th time`)
        : Deferred.fail(answer, new Error(`no ${time}`))
    }
  }
}

/** Lets every fiber go as far as it can. */
const settled = Effect.promise(() => new Promise<void>((resume) => setImmediate(resume)))

const steps = (count: number) => {
  let done = 0
  return Effect.whileLoop({ while: () => done++ < count, body: () => Effect.void, step: () => {} })
}

const run = <A, E>(work: Effect.Effect<A, E>) => Effect.runPromise(work)

describe("sharing answers", () => {
  it("asks once for a lone question, and again for the next", () =>
    run(
      Effect.gen(function* () {
        const { answer, ask, times } = makeSource()
        const share = makeCoalescer<number, Error>()
        for (const time of [1, 2]) {
          const asker = yield* Effect.fork(share("a", ask))
          yield* settled
          yield* answer(time)
          expect(yield* Fiber.join(asker)).toBe(time)
        }
        expect(times()).toBe(2)
      })
    ))

  it("asks a second time for all who came while the first answer was on its way", () =>
    run(
      Effect.gen(function* () {
        const { answer, ask, times } = makeSource()
        const share = makeCoalescer<number, Error>()
        const first = yield* Effect.fork(share("a", ask))
        yield* settled
        const crowd = yield* Effect.forEach(Array.from({ length: 20 }), () => Effect.fork(share("a", ask)))
        yield* settled
        expect(times()).toBe(1)
        yield* answer(1)
        expect(yield* Fiber.join(first)).toBe(1)
        yield* settled
        expect(times()).toBe(2)
        yield* answer(2)
        expect(yield* Effect.forEach(crowd, Fiber.join)).toEqual(Array.from({ length: 20 }, () => 2))
      })
    ))

  it("does not share between different questions", () =>
    run(
      Effect.gen(function* () {
        const { answer, ask } = makeSource()
        const share = makeCoalescer<number, Error>()
        const one = yield* Effect.fork(share("a", ask))
        const other = yield* Effect.fork(share("b", ask))
        yield* settled
        yield* answer(2)
        expect(yield* Fiber.join(other)).toBe(2)
        yield* answer(1)
        expect(yield* Fiber.join(one)).toBe(1)
      })
    ))

  it("shares a failure too, and asks again after it", () =>
    run(
      Effect.gen(function* () {
        const { answer, ask, fail } = makeSource()
        const share = makeCoalescer<number, Error>()
        const first = yield* Effect.fork(share("a", ask))
        yield* settled
        const second = yield* Effect.fork(share("a", ask))
        const third = yield* Effect.fork(share("a", ask))
        yield* settled
        yield* fail(1)
        expect(Exit.isFailure(yield* Fiber.await(first))).toBe(true)
        yield* settled
        yield* fail(2)
        expect(Exit.isFailure(yield* Fiber.await(second))).toBe(true)
        expect(Exit.isFailure(yield* Fiber.await(third))).toBe(true)
        const fourth = yield* Effect.fork(share("a", ask))
        yield* settled
        yield* answer(3)
        expect(yield* Fiber.join(fourth)).toBe(3)
      })
    ))

  it("leaves nobody waiting when those who ask give up", () =>
    run(
      Effect.gen(function* () {
        const { answer, ask } = makeSource()
        const share = makeCoalescer<number, Error>()
        const first = yield* Effect.fork(share("a", ask))
        yield* settled
        const leading = yield* Effect.fork(share("a", ask))
        const following = yield* Effect.fork(share("a", ask))
        yield* settled
        yield* Fiber.interruptFork(first)
        yield* Fiber.interruptFork(leading)
        yield* settled
        yield* answer(1)
        yield* settled
        yield* answer(2)
        expect(yield* Fiber.join(following)).toBe(2)
      })
    ))

  // A fiber lets others go first after 2048 steps: whichever of those here that falls on.
  it("leaves nobody waiting who has to let others go first while asking", () =>
    run(
      Effect.forEach(Array.from({ length: 100 }), (_, n) =>
        Effect.gen(function* () {
          const { answer, ask, times } = makeSource()
          const share = makeCoalescer<number, Error>()
          const first = yield* Effect.fork(share("a", ask))
          yield* settled
          const late = yield* answer(1).pipe(
            Effect.zipRight(steps(1960 + n)),
            Effect.zipRight(share("a", ask)),
            Effect.fork
          )
          yield* settled
          expect(times()).toBe(2)
          yield* answer(2)
          expect(yield* Fiber.join(first)).toBe(1)
          expect(yield* Fiber.join(late)).toBe(2)
        })
      )
    ))

  it("gives nobody an answer that was asked for before the question came, whatever the order", () =>
    fc.assert(
      fc.asyncProperty(
        fc.array(fc.oneof(fc.constant("answer" as const), fc.constantFrom("a", "b")), { maxLength: 60 }),
        (steps) =>
          run(
            Effect.gen(function* () {
              const sources = { a: makeSource(), b: makeSource() }
              const answered = { a: 0, b: 0 }
              const share = makeCoalescer<number, Error>()
              const answerAll = Effect.forEach(["a", "b"] as const, (question) =>
                Effect.gen(function* () {
                  if (answered[question] === sources[question].times()) return
                  yield* sources[question].answer(++answered[question])
                  yield* settled
                })
              )
              const askers: Array<{ readonly before: number; readonly fiber: Fiber.Fiber<number, Error> }> = []
              for (const step of steps) {
                if (step === "answer") yield* answerAll
                else {
                  const { ask, times } = sources[step as "a" | "b"] // the only others
                  askers.push({ before: times(), fiber: yield* Effect.fork(share(step, ask)) })
                  yield* settled
                }
              }
              while (answered.a < sources.a.times() || answered.b < sources.b.times()) yield* answerAll
              for (const { before, fiber } of askers) expect(yield* Fiber.join(fiber)).toBe(before + 1)
            })
          )
      )
    ))
})
