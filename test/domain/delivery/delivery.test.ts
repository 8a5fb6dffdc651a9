import { assert, describe, it } from "vitest"
import { maxOpenRedeliveries, requirePeriod, requireRedeliveryCapacity } from "../../../src/domain/delivery/Delivery.ts"
import { errorsOf } from "../../support/assertions/decisions.ts"

describe("A redelivery", () => {
  const since = "2026-01-02T00:00:00.000Z"

  it("rejects a period that ends before it starts", () => {
    assert.isUndefined(errorsOf(requirePeriod({ since })))
    assert.isUndefined(errorsOf(requirePeriod({ since, until: since })))
    assert.deepStrictEqual(errorsOf(requirePeriod({ since, until: "2026-01-01T00:00:00.000Z" })), ["until min"])
  })

  it("is rejected while the maximum number of redeliveries is open", () => {
    assert.isUndefined(errorsOf(requireRedeliveryCapacity(maxOpenRedeliveries - 1)))
    assert.deepStrictEqual(errorsOf(requireRedeliveryCapacity(maxOpenRedeliveries)), ["integrationId state"])
  })
})
