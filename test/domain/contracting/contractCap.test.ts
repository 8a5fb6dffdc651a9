import { Either } from "effect"
import fc from "fast-check"
import { assert, describe, it } from "vitest"
import { billedAfter } from "../../../src/domain/contracting/ContractCap.ts"
import { assertPasses, errorsOf } from "../../support/assertions/decisions.ts"

const contract = { id: "ctr_1", currencyCode: "EUR", capMinor: 100_00, billedMinor: 60_00 }

describe("The cap of a contract", () => {
  const amount = fc.maxSafeInteger()
  const cap = fc.option(fc.maxSafeNat())

  it("accepts the exact sum, and rejects a sum beyond the cap or the safe integers", () => {
    fc.assert(
      fc.property(cap, amount, fc.array(amount, { maxLength: 5 }), (capMinor, billedMinor, changes) => {
        const exact = changes.reduce((sum, change) => sum + BigInt(change), BigInt(billedMinor))
        const isExact = Number.isSafeInteger(Number(exact))
        const isBeyondCap = capMinor !== null && exact > BigInt(capMinor) && exact > BigInt(billedMinor)
        const decision = billedAfter({ ...contract, capMinor, billedMinor }, changes, "billables")
        if (!isExact || isBeyondCap) assert.deepStrictEqual(errorsOf(decision), ["billables max"])
        else assertPasses(decision, Number(exact))
      })
    )
  })

  it("allows billing up to the cap and no further", () => {
    assertPasses(billedAfter(contract, [40_00], "billables"), 100_00)
    assert.deepStrictEqual(errorsOf(billedAfter(contract, [40_01], "billables")), ["billables max"])
  })

  it("allows a contract above a lowered cap to be billed less, and rejects one cent more", () => {
    const lowered = { ...contract, capMinor: 10_00 }
    assertPasses(billedAfter(lowered, [-20_00], "id"), 40_00)
    assertPasses(billedAfter(lowered, [], "id"), 60_00)
    assert.deepStrictEqual(errorsOf(billedAfter(lowered, [1], "quantity")), ["quantity max"])
  })

  it("names the contract, the sum and the cap in the error", () => {
    const decision = billedAfter(contract, [50_00], "billables")
    const message = Either.isLeft(decision) ? decision.left.details?.[0]?.message : ""
    assert.strictEqual(
      message,
      "would bring the billed amount of contract ctr_1 to 110.00 EUR, above its capMinor of 100.00 EUR"
    )
  })

  it("is not named in the error of a contract without one", () => {
    const uncapped = { ...contract, capMinor: null, billedMinor: Number.MAX_SAFE_INTEGER }
    const decision = billedAfter(uncapped, [1], "billables")
    const message = Either.isLeft(decision) ? decision.left.details?.[0]?.message : ""
    assert.strictEqual(
      message,
      "would bring the billed amount of contract ctr_1 to more than 90,071,992,547,409.91 EUR"
    )
  })
})
