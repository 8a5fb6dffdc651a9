import { assert, describe, it } from "vitest"
import { BankAccount } from "../../../src/domain/money/BankAccount.ts"
import { schemaErrorsOf } from "../../support/assertions/schemaErrors.ts"

const errorsOf = (fields: object) =>
  schemaErrorsOf(BankAccount, { name: "Harbour Works", iban: "DE89370400440532013000", ...fields })

describe("BankAccount", () => {
  it.each(["DE89370400440532013000", "GB29NWBK60161331926819", "NO9386011117947", "FR1420041010050500013M02606"])(
    "accepts the IBAN %s",
    (iban) => {
      assert.isUndefined(errorsOf({ iban }))
    }
  )

  it.each(["DE89370400440532013001", "DE8937040044053201300", "DE89 3704 0044 0532 0130 00", "XX00", ""])(
    "rejects the IBAN '%s'",
    (iban) => {
      assert.deepStrictEqual(errorsOf({ iban }), [
        `iban format: must be a valid IBAN without spaces such as DE89370400440532013000, but is "${iban}"`
      ])
    }
  )

  it("accepts a BIC of 8 or 11 characters", () => {
    for (const bic of ["COBADEFF", "COBADEFFXXX"]) assert.isUndefined(errorsOf({ bic }))
    for (const bic of ["COBADEFFX", "cobadeff", "12345678"])
      assert.deepStrictEqual(errorsOf({ bic }), [
        `bic format: must be a BIC of 8 or 11 characters such as COBADEFFXXX, but is "${bic}"`
      ])
  })
})
