import { assert, describe, it } from "vitest"
import { splitBilling } from "../../../src/domain/contracting/ContractBilling.ts"

describe("splitBilling", () => {
  it("splits what is billed into issued and drafted, and says what the cap leaves", () => {
    assert.deepStrictEqual(splitBilling({ billedMinor: 700, draftedMinor: 200, capMinor: 1000 }), {
      issuedMinor: 500,
      draftedMinor: 200,
      capMinor: 1000,
      leftMinor: 300
    })
  })

  it("leaves nothing below a cap that is exceeded, and names none without a cap", () => {
    assert.strictEqual(splitBilling({ billedMinor: 700, draftedMinor: 0, capMinor: 600 }).leftMinor, 0)
    assert.deepStrictEqual(splitBilling({ billedMinor: 700, draftedMinor: 0, capMinor: null }), {
      issuedMinor: 700,
      draftedMinor: 0
    })
  })
})
