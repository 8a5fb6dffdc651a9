import { assert, describe, it } from "vitest"
import { compareTaxSums, type TaxSum } from "../../../src/domain/reports/Revenue.ts"

const sumOf = (fields: Partial<TaxSum>): TaxSum => ({
  currencyCode: "EUR",
  name: "Tax",
  percent: 0,
  invoicedBaseMinor: 0,
  invoicedTaxMinor: 0,
  voidedBaseMinor: 0,
  voidedTaxMinor: 0,
  creditedBaseMinor: 0,
  creditedTaxMinor: 0,
  baseMinor: 0,
  taxMinor: 0,
  ...fields
})

describe("compareTaxSums", () => {
  it("sorts by currency, VAT category, name and percentage, as invoices do", () => {
    const sorted = [
      sumOf({ category: "S", percent: 19, name: "B" }),
      sumOf({ category: "S", percent: 7, name: "A" }),
      sumOf({ category: "AE" }),
      sumOf({ name: "City", percent: 1 }),
      sumOf({ name: "State", percent: 5 }),
      sumOf({ name: "State", percent: 2 }),
      sumOf({ currencyCode: "USD", category: "S" })
    ]
    assert.deepStrictEqual(sorted.toReversed().sort(compareTaxSums), sorted)
  })
})
