import { assert, describe, it } from "vitest"
import { Parties } from "../../../../src/domain/invoicing/document/Parties.ts"
import { decode, schemaErrorsOf } from "../../../support/assertions/schemaErrors.ts"
import { defaultParties } from "../../../support/fixtures/invoiceDocuments.ts"

describe("Parties", () => {
  it("keeps the issuer, the recipient and the contract with their names and addresses", () => {
    assert.deepStrictEqual(decode(Parties, defaultParties), defaultParties)
  })

  it("accepts parties without an address, and none without a name", () => {
    const named = { name: "Harbour Works" }
    assert.isUndefined(schemaErrorsOf(Parties, { tenant: named, client: named, contract: named }))
    for (const party of ["tenant", "client", "contract"])
      assert.deepStrictEqual(schemaErrorsOf(Parties, { tenant: named, client: named, contract: named, [party]: {} }), [
        `${party}.name required: is required`
      ])
  })

  it("keeps codes that their lists do not have any more", () => {
    const { address } = defaultParties.client
    const dropped = { ...address, countryCode: "AN", electronicAddress: { scheme: "9901", value: "v" } }
    const parties = { ...defaultParties, client: { name: "Northwind", address: dropped, language: "de" } }
    assert.deepStrictEqual<unknown>(decode(Parties, parties), parties)
  })
})
