import { assert, describe, it } from "vitest"
import { parseRetryAfter } from "../../../src/domain/delivery/RetrySchedule.ts"
import { decreaseSendLimit, increaseSendLimit } from "../../../src/domain/delivery/SendLimits.ts"

describe("increaseSendLimit", () => {
  it("raises a limit of which half is used, and none of which less is used", () => {
    const state = { limit: 8, threshold: 64, decreasedAt: 0 }
    assert.strictEqual(increaseSendLimit(state, 4).limit, 9)
    assert.strictEqual(increaseSendLimit(state, 3), state)
  })

  it("raises the limit by one below the threshold, and by a fraction from the threshold on", () => {
    assert.strictEqual(increaseSendLimit({ limit: 15, threshold: 16, decreasedAt: 0 }, 15).limit, 16)
    assert.strictEqual(increaseSendLimit({ limit: 16, threshold: 16, decreasedAt: 0 }, 16).limit, 16 + 1 / 16)
  })
})

describe("decreaseSendLimit", () => {
  const state = { limit: 64, threshold: 64, decreasedAt: 100 }

  it("lowers the threshold for an attempt that started at the last decrease or later", () => {
    assert.deepStrictEqual(decreaseSendLimit(state, 100, 200), { limit: 32, threshold: 32, decreasedAt: 200 })
  })

  it("keeps the threshold for an attempt that started before the last decrease", () => {
    assert.deepStrictEqual(decreaseSendLimit(state, 99, 200), { limit: 32, threshold: 64, decreasedAt: 100 })
  })
})

describe("parseRetryAfter", () => {
  it("ignores a date in no format of HTTP, even if Date could parse it with any text behind it", () => {
    assert.isUndefined(parseRetryAfter("Nov 14 2026 10:00 (", 0))
  })
})
