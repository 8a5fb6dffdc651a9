import { assert, describe, it } from "vitest"
import { vatCategories } from "../../../src/domain/money/InvoiceArithmetic.ts"
import {
  CreateTaxRate,
  PatchTaxRate,
  requireActiveTaxRate,
  requireValidTaxRate,
  TaxRateId,
  taxReferenceErrors,
  toDefaultTaxRates
} from "../../../src/domain/taxes/TaxRate.ts"
import { assertPasses, messagesOf } from "../../support/assertions/decisions.ts"
import { schemaErrorsOf } from "../../support/assertions/schemaErrors.ts"

const exemptionReason = "The recipient owes the tax."

describe("CreateTaxRate", () => {
  const errorsOf = (fields: object) => schemaErrorsOf(CreateTaxRate, { name: "VAT", percent: 19, ...fields })

  it("accepts a percentage from 0 to 100 with up to 4 decimals", () => {
    for (const percent of [0, 0.0001, 5.5, 100]) assert.isUndefined(errorsOf({ percent }))
    assert.deepStrictEqual(errorsOf({ percent: 100.1 }), ["percent max: must be at most 100, but is 100.1"])
    assert.deepStrictEqual(errorsOf({ percent: -1 }), ["percent min: must be at least 0, but is -1"])
    assert.deepStrictEqual(errorsOf({ percent: 0.00001 }), [
      "percent format: must have at most 4 decimals, but is 0.00001"
    ])
  })

  it("accepts the categories of EN 16931 only", () => {
    for (const category of vatCategories) assert.isUndefined(errorsOf({ category }))
    assert.deepStrictEqual(errorsOf({ category: "L" }), [
      'category enum: must be one of S, Z, E, AE, K, G, O, but is "L"'
    ])
  })
})

describe("PatchTaxRate", () => {
  it("knows neither the percentage nor the category, which never change", () => {
    for (const change of [{ percent: 7 }, { category: "Z" }])
      assert.deepStrictEqual(
        schemaErrorsOf(PatchTaxRate, change)?.map((error) => error.split(":")[0]),
        [`${Object.keys(change)[0]} unknown`]
      )
  })
})

describe("requireValidTaxRate", () => {
  it("requires a percentage above 0 for S and 0 for every other category", () => {
    assert.isUndefined(messagesOf(requireValidTaxRate({ percent: 19, category: "S" })))
    assert.deepStrictEqual(messagesOf(requireValidTaxRate({ percent: 0, category: "S" })), [
      "percent min: must be more than 0 for category S, but is 0"
    ])
    for (const category of vatCategories.filter((one) => one !== "S")) {
      const rate = { category, ...(category === "Z" ? {} : { exemptionReason }) }
      assert.isUndefined(messagesOf(requireValidTaxRate({ ...rate, percent: 0 })))
      assert.deepStrictEqual(messagesOf(requireValidTaxRate({ ...rate, percent: 1 })), [
        `percent max: must be 0 for category ${category}, but is 1`
      ])
    }
  })

  it("returns a valid rate as it is", () => {
    const rate = { name: "VAT 19 %", percent: 19, category: "S" } as const
    assertPasses(requireValidTaxRate(rate), rate)
  })

  it("accepts any percentage of a tax that is not VAT", () => {
    for (const percent of [0, 2.5, 100]) assert.isUndefined(messagesOf(requireValidTaxRate({ percent })))
  })

  it("requires an exemption reason exactly where no tax is charged", () => {
    for (const category of ["E", "AE", "K", "G", "O"] as const)
      assert.deepStrictEqual(messagesOf(requireValidTaxRate({ percent: 0, category })), [
        `exemptionReason required: is required for category ${category}`
      ])
    const message = "is only for the categories E, AE, K, G, O"
    for (const category of ["S", "Z", undefined] as const) {
      const rate = { percent: category === "S" ? 1 : 0, ...(category === undefined ? {} : { category }) }
      assert.deepStrictEqual(messagesOf(requireValidTaxRate({ ...rate, exemptionReason, exemptionCode: "X" })), [
        `exemptionReason unknown: ${message}`,
        `exemptionCode unknown: ${message}`
      ])
    }
  })
})

describe("requireActiveTaxRate", () => {
  it("rejects a rate that is archived", () => {
    assert.isUndefined(messagesOf(requireActiveTaxRate({})))
    assert.deepStrictEqual(messagesOf(requireActiveTaxRate({ archivedAt: "2026-03-01T08:00:00.000Z" })), [
      "archivedAt state: is 2026-03-01T08:00:00.000Z; the tax rate is archived already"
    ])
  })
})

describe("taxReferenceErrors", () => {
  const [vat, reduced, city, old] = ["tax_1", "tax_2", "tax_3", "tax_4"].map((id) => TaxRateId.make(id))
  const rates = new Map(
    [
      { id: vat, category: "S" as const },
      { id: reduced, category: "S" as const },
      { id: city },
      { id: old, archivedAt: "2026-03-01T08:00:00.000Z" }
    ].flatMap(({ id, ...rate }) => (id === undefined ? [] : [[id as string, { id, ...rate }] as const]))
  )
  const errorsOf = (ids: ReadonlyArray<string>, usedBefore?: ReadonlyArray<string>) =>
    taxReferenceErrors(ids, rates, "taxRateIds", usedBefore).map(
      ({ constraint, field, message }) => `${field} ${constraint}: ${message}`
    )

  it("accepts no rate, and one VAT rate beside others", () => {
    assert.deepStrictEqual(errorsOf([]), [])
    assert.deepStrictEqual(errorsOf(["tax_3", "tax_1"]), [])
  })

  it("rejects two rates with a category", () => {
    assert.deepStrictEqual(errorsOf(["tax_1", "tax_2"]), [
      "taxRateIds maxItems: must have at most 1 tax rate with a VAT category"
    ])
  })

  it("rejects unknown rates, and archived ones unless they were used before", () => {
    assert.deepStrictEqual(errorsOf(["tax_3", "tax_9", "tax_4"]), [
      "taxRateIds[1] exists: does not exist in this tenant",
      "taxRateIds[2] state: is archived since 2026-03-01T08:00:00.000Z; use another tax rate"
    ])
    assert.deepStrictEqual(errorsOf(["tax_4"], ["tax_4"]), [])
  })
})

describe("toDefaultTaxRates", () => {
  it("renames the field of a request, null included, and adds none", () => {
    const rename = (fields: { readonly name?: string; readonly defaultTaxRateIds?: ReadonlyArray<string> | null }) =>
      JSON.stringify(toDefaultTaxRates(fields))
    assert.strictEqual(rename({ name: "A", defaultTaxRateIds: ["tax_1"] }), '{"name":"A","defaultTaxRates":["tax_1"]}')
    assert.strictEqual(rename({ defaultTaxRateIds: null }), '{"defaultTaxRates":null}')
    assert.strictEqual(rename({ name: "A" }), '{"name":"A"}')
  })
})
