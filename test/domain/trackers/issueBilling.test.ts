import { assert, describe, it } from "vitest"
import { maxBillablesPerRequest } from "../../../src/domain/invoicing/Billable.ts"
import { requireAllFound, requireBillableCount, requireSelection } from "../../../src/domain/trackers/IssueBilling.ts"
import { assertPasses, errorsOf } from "../../support/assertions/decisions.ts"

const issues = (count: number) => Array.from({ length: count }, (_, n) => n)

describe("Billing issues", () => {
  it("requires exactly one of issueKeys and filter", () => {
    assert.isUndefined(errorsOf(requireSelection({ issueKeys: ["A-1"] })))
    assert.isUndefined(errorsOf(requireSelection({ filter: {} })))
    assert.deepStrictEqual(errorsOf(requireSelection({})), ["issueKeys required"])
    assert.deepStrictEqual(errorsOf(requireSelection({ issueKeys: ["A-1"], filter: {} })), ["filter unknown"])
  })

  it("keeps the order of the requested issue keys", () => {
    const found = new Map([
      ["A-1", 1],
      ["A-2", 2]
    ])
    assertPasses(requireAllFound(["A-2", "A-1"], found), [2, 1])
  })

  it("reports every key without an issue", () => {
    const decision = requireAllFound(["A-1", "A-2", "A-3"], new Map([["A-2", 2]]))
    assert.deepStrictEqual(errorsOf(decision), ["issueKeys[0] exists", "issueKeys[2] exists"])
  })

  it("rejects a filter that matches no issue or more issues than one request may bill", () => {
    assert.deepStrictEqual(errorsOf(requireBillableCount([])), ["filter minItems"])
    assert.isUndefined(errorsOf(requireBillableCount(issues(1))))
    assert.isUndefined(errorsOf(requireBillableCount(issues(maxBillablesPerRequest))))
    assert.deepStrictEqual(errorsOf(requireBillableCount(issues(maxBillablesPerRequest + 1))), ["filter maxItems"])
  })
})
