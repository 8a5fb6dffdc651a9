import { Cause, Effect, Either, Exit } from "effect"
import { assert, describe, it } from "vitest"
import { andThen, attempt, toEither } from "../../../src/http/server/request/Steps.ts"

const double = (n: number) => Effect.succeed(2 * n)

describe("The steps of a request", () => {
  it("go on at once from a result that is known", () => {
    let seen: number | undefined
    const next = andThen(Effect.succeed(21), (n) => {
      seen = n
      return double(n)
    })
    assert.strictEqual(seen, 21)
    assert.deepStrictEqual(next, Effect.succeed(42))
  })

  it("end at once with a failure that is known", () => {
    const next = andThen(Effect.fail("no") as Effect.Effect<number, string>, () => assert.fail("went on"))
    assert.deepStrictEqual(next, Effect.fail("no"))
  })

  it("go on later from work that waits", async () => {
    let hasRun = false
    const next = andThen(Effect.delay(Effect.succeed(21), 1), (n) => {
      hasRun = true
      return double(n)
    })
    assert.isFalse(hasRun)
    assert.strictEqual(await Effect.runPromise(next), 42)
  })

  it("turn what is thrown into a defect", async () => {
    const thrown = new Error("thrown")
    const exit = await Effect.runPromiseExit(
      attempt(() => {
        throw thrown
      })
    )
    assert.deepStrictEqual(exit, Exit.failCause(Cause.die(thrown)))
  })

  it("know an Either at once", async () => {
    const known: Effect.Effect<number, string> = Either.left("no")
    assert.deepStrictEqual(toEither(known), Effect.succeed(Either.left("no")))
    const later = toEither(Effect.delay(Effect.fail("no"), 1))
    assert.deepStrictEqual(await Effect.runPromise(later), Either.left("no"))
  })
})
