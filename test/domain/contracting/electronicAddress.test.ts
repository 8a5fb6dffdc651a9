import { assert, describe, it } from "vitest"
import { ElectronicAddress, electronicAddressSchemes } from "../../../src/domain/contracting/ElectronicAddress.ts"
import { schemaErrorsOf } from "../../support/assertions/schemaErrors.ts"

const errorsOf = (scheme: string) => schemaErrorsOf(ElectronicAddress, { scheme, value: "v" })

describe("ElectronicAddress", () => {
  it("accepts every code of the list, which are four digits or two letters", () => {
    assert.strictEqual(electronicAddressSchemes.size, 104)
    for (const scheme of electronicAddressSchemes) {
      assert.match(scheme, /^(\d{4}|[A-Z]{2})$/)
      assert.isUndefined(errorsOf(scheme))
    }
  })

  it.each(["EM", "0204", "0088", "9930"])("accepts %s", (scheme) => assert.isUndefined(errorsOf(scheme)))

  it.each(["", "em", "204", "0001", "9999", "VAT", "0204 0088"])("rejects '%s'", (scheme) => {
    assert.deepStrictEqual(errorsOf(scheme), [
      `scheme format: must be a code of the EAS list such as EM or 0204, but is "${scheme}"`
    ])
  })
})
