import { Effect, Either } from "effect"
import fc from "fast-check"
import { assert, describe, it } from "vitest"
import { quotaNames, quotas, requireQuota } from "../../../src/domain/quotas/Quotas.ts"
import { readSettings } from "../../../src/layers/infra/config/Settings.ts"
import { quotaError } from "../../support/assertions/failures.ts"

const decide = (...addition: Parameters<typeof requireQuota>) =>
  Effect.runSync(Effect.either(requireQuota(...addition)))

describe("A quota", () => {
  const amount = fc.integer({ min: 0, max: 1_000_000 })

  it("rejects exactly the additions beyond the maximum", () => {
    fc.assert(
      fc.property(amount, amount, fc.integer({ min: -1000, max: 1000 }), (max, used, adding) => {
        const isRejected = Either.isLeft(decide("integrations", { max, used, adding, field: "provider" }))
        assert.strictEqual(isRejected, adding > 0 && used + adding > max)
      })
    )
  })

  it("counts one addition by default", () => {
    assert.isTrue(Either.isRight(decide("members", { max: 5, used: 4, field: "subject" })))
    assert.isTrue(Either.isLeft(decide("members", { max: 5, used: 5, field: "subject" })))
  })

  it.each(quotaNames)("of %s is named in the error, with its maximum, a remedy and its setting", (name) => {
    const error = Either.getOrNull(Either.flip(decide(name, { max: 7, used: 7, field: "field" })))
    const [field, constraint, message] = quotaError(name, 7, "field")
    assert.deepStrictEqual(error?.details, [{ field, constraint, message }])
    for (const word of [name, " 7 ", quotas[name].setting]) assert.include(message, word)
  })

  it.each(quotaNames)("of %s is a setting with a default, from one up to its highest value", async (name) => {
    const { default: fallback, highest, setting } = quotas[name]
    const read = (value?: number) =>
      Effect.runPromise(
        Effect.either(readSettings(value === undefined ? {} : { [setting]: String(value) })).pipe(
          Effect.map(Either.map((settings) => settings[setting]))
        )
      )
    assert.deepStrictEqual(await read(), Either.right(fallback))
    assert.deepStrictEqual(await read(1), Either.right(1))
    assert.deepStrictEqual(await read(highest), Either.right(highest))
    assert.isTrue(Either.isLeft(await read(0)))
    assert.isTrue(Either.isLeft(await read(highest + 1)))
  })
})
