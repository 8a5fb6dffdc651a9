import { assert, describe, it } from "vitest"
import {
  type Billable,
  CreateBillables,
  hasTotal,
  lineErrors,
  maxBillablesPerRequest,
  PatchBillable,
  patchLine,
  toLine,
  withAmounts
} from "../../../src/domain/invoicing/Billable.ts"
import { InvoiceId } from "../../../src/domain/invoicing/Invoice.ts"
import { maxMinor } from "../../../src/domain/money/Money.ts"
import { TaxRateId } from "../../../src/domain/taxes/TaxRate.ts"
import { decode, schemaErrorsOf } from "../../support/assertions/schemaErrors.ts"
import { lineOf } from "../../support/fixtures/invoiceDocuments.ts"

const invoice = { id: InvoiceId.make("inv_1"), currencyCode: "EUR" } as const
const line = { currencyCode: "EUR", quantity: 1, amountMinor: 100 }
const [standard, reduced] = [TaxRateId.make("tax_1"), TaxRateId.make("tax_2")]

const errorsOfLine = (fields: Parameters<typeof withAmounts>[0] & typeof line & Partial<Billable>) =>
  lineErrors(withAmounts(fields), "EUR").map(({ constraint, field, message }) => `${field} ${constraint}: ${message}`)

const errorsOfRequest = (fields: object) =>
  schemaErrorsOf(CreateBillables, { invoiceId: "inv_1", billables: [{ name: "Pump", amountMinor: 1, ...fields }] })

describe("toLine", () => {
  it("applies the quantity 1, the currency of the invoice and the default tax rates", () => {
    assert.deepStrictEqual(toLine(invoice, { name: "Pump", amountMinor: 250 }, [standard]), {
      name: "Pump",
      amountMinor: 250,
      invoice: invoice.id,
      quantity: 1,
      currencyCode: "EUR",
      taxRates: [standard],
      discountMinor: 0,
      lineTotalMinor: 250
    })
  })

  it("keeps the quantity and the currency of the request", () => {
    const created = toLine(invoice, { name: "Pump", amountMinor: 250, quantity: 2.5, currencyCode: "USD" }, [])
    assert.deepInclude(created, { quantity: 2.5, currencyCode: "USD", lineTotalMinor: 625 })
  })

  it("makes a line without a total beyond the exact range", () => {
    const created = toLine(invoice, { name: "Pump", amountMinor: maxMinor, quantity: 2 }, [])
    assert.isUndefined(created.lineTotalMinor)
    assert.isFalse(hasTotal(created))
  })

  it("keeps the tax rates of the request, none included", () => {
    const taxRatesOf = (taxRateIds: ReadonlyArray<TaxRateId>) =>
      toLine(invoice, { name: "Pump", amountMinor: 250, taxRateIds }, [standard]).taxRates
    assert.deepStrictEqual(taxRatesOf([reduced]), [reduced])
    assert.deepStrictEqual(taxRatesOf([]), [])
  })

  it("takes the discount off the total", () => {
    const created = toLine(invoice, { name: "Pump", amountMinor: 255, discount: { percent: 10 } }, [])
    assert.deepInclude(created, { discountMinor: 26, lineTotalMinor: 229 })
  })
})

describe("patchLine", () => {
  it("computes the amounts again and keeps the tax rates that the change leaves out", () => {
    const before = lineOf({ amountMinor: 100, discount: { amountMinor: 40 }, taxRates: [standard] })
    const after = patchLine(before, { quantity: 2 })
    assert.deepInclude(after, { discountMinor: 40, lineTotalMinor: 160, taxRates: [standard] })
    assert.deepInclude(patchLine(before, { discount: null, taxRateIds: [reduced] }), {
      discountMinor: 0,
      lineTotalMinor: 100,
      taxRates: [reduced]
    })
  })
})

describe("lineErrors", () => {
  it("accepts a line in the currency of the invoice, with both parts of a reference or none", () => {
    assert.deepStrictEqual(errorsOfLine(line), [])
    assert.deepStrictEqual(errorsOfLine({ ...line, referenceType: "order", referenceId: "7" }), [])
  })

  it("rejects another currency", () => {
    assert.deepStrictEqual(errorsOfLine({ ...line, currencyCode: "USD" }), [
      "currencyCode currency: must be EUR, the currency of the invoice, but is USD"
    ])
  })

  it("names the missing part of a reference", () => {
    assert.deepStrictEqual(errorsOfLine({ ...line, referenceType: "order" }), [
      "referenceId required: is required together with referenceType"
    ])
    assert.deepStrictEqual(errorsOfLine({ ...line, referenceId: "7" }), [
      "referenceType required: is required together with referenceId"
    ])
  })

  it("rejects a total beyond the exact range", () => {
    assert.deepStrictEqual(errorsOfLine({ ...line, amountMinor: maxMinor, quantity: 2 }), [
      "quantity max: times amountMinor must be within ±9007199254740991"
    ])
  })

  it("accepts a discount up to the amount of a line", () => {
    assert.deepStrictEqual(errorsOfLine({ ...line, discount: { amountMinor: 100 } }), [])
    assert.deepStrictEqual(errorsOfLine({ ...line, discount: { amountMinor: 101 } }), [
      "discount.amountMinor max: must be at most 100, the amount of the line, but is 101"
    ])
  })

  it("accepts a discount only on a line with a positive amount", () => {
    for (const amountMinor of [0, -100])
      assert.deepStrictEqual(errorsOfLine({ ...line, amountMinor, discount: { percent: 1 } }), [
        `discount min: is only for a line with a positive amount, but quantity times amountMinor is ${amountMinor}`
      ])
  })

  it("needs a discount for a reason", () => {
    assert.deepStrictEqual(errorsOfLine({ ...line, discountReason: "Loyalty" }), [
      "discount required: is required together with discountReason"
    ])
  })

  it("reports all errors of a line at once", () => {
    const errors = errorsOfLine({
      currencyCode: "USD",
      referenceId: "7",
      discountReason: "Loyalty",
      amountMinor: maxMinor,
      quantity: 2
    })
    assert.deepStrictEqual(
      errors.map((error) => error.split(" ")[0]),
      ["currencyCode", "discount", "referenceType", "quantity"]
    )
  })
})

describe("CreateBillables", () => {
  it("accepts up to 12 decimals in a quantity", () => {
    assert.isUndefined(errorsOfRequest({ quantity: 0.123456789012 }))
    assert.deepStrictEqual(errorsOfRequest({ quantity: 1e-13 }), [
      "billables[0].quantity format: must have at most 12 decimals, but is 1e-13"
    ])
  })

  it("accepts metadata of up to 50 keys of 1 to 40 characters", () => {
    const metadataOf = (keys: ReadonlyArray<string>) => ({ metadata: Object.fromEntries(keys.map((key) => [key, ""])) })
    const keys = (count: number) => Array.from({ length: count }, (_, n) => `key${n}`)
    assert.isUndefined(errorsOfRequest(metadataOf(keys(50))))
    assert.isUndefined(errorsOfRequest(metadataOf(["k".repeat(40), "k"])))
    assert.deepStrictEqual(errorsOfRequest(metadataOf(keys(51))), [
      "billables[0].metadata maxItems: must have at most 50 keys, but has 51"
    ])
    for (const key of ["", "k".repeat(41)])
      assert.deepStrictEqual(errorsOfRequest(metadataOf(["fine", key])), [
        "billables[0].metadata maxLength: must have keys of 1 to 40 characters"
      ])
  })

  it("accepts either a percentage or a fixed amount as a discount", () => {
    for (const discount of [{ percent: 0.0001 }, { percent: 100 }, { amountMinor: 1 }])
      assert.isUndefined(errorsOfRequest({ discount }))
    for (const discount of [{}, { percent: 1, amountMinor: 1 }])
      assert.deepStrictEqual(errorsOfRequest({ discount }), [
        "billables[0].discount required: must have exactly one of percent and amountMinor"
      ])
    assert.deepStrictEqual(errorsOfRequest({ discount: { percent: 0 } }), [
      "billables[0].discount.percent min: must be at least 0.0001, but is 0"
    ])
    assert.deepStrictEqual(errorsOfRequest({ discount: { percent: 33.33333 } }), [
      "billables[0].discount.percent format: must have at most 4 decimals, but is 33.33333"
    ])
  })

  it("accepts up to 3 distinct tax rates", () => {
    const ids = (count: number) => Array.from({ length: count }, (_, n) => `tax_${String(n).padStart(24, "0")}`)
    assert.isUndefined(errorsOfRequest({ taxRateIds: ids(3) }))
    assert.deepStrictEqual(errorsOfRequest({ taxRateIds: ids(4) }), [
      "billables[0].taxRateIds maxItems: must have at most 3 items, but has 4"
    ])
    assert.deepStrictEqual(errorsOfRequest({ taxRateIds: [...ids(1), ...ids(1)] }), [
      "billables[0].taxRateIds unique: must not contain a tax rate twice"
    ])
  })

  it("accepts 1 to 1000 lines", () => {
    const request = (count: number) => ({
      invoiceId: "inv_1",
      billables: Array.from({ length: count }, () => ({ name: "Pump", amountMinor: 1 }))
    })
    assert.lengthOf(decode(CreateBillables, request(maxBillablesPerRequest)).billables, 1000)
    assert.deepStrictEqual(schemaErrorsOf(CreateBillables, request(0)), [
      "billables minItems: must have at least 1 item, but is empty"
    ])
    assert.deepStrictEqual(schemaErrorsOf(CreateBillables, request(1001)), [
      "billables maxItems: must have at most 1000 items, but has 1001"
    ])
  })
})

describe("PatchBillable", () => {
  it("clears an optional field with null, but no required field", () => {
    assert.deepStrictEqual(decode(PatchBillable, { description: null }), { description: null })
    assert.deepStrictEqual(schemaErrorsOf(PatchBillable, { name: null }), ["name type: must be a string, but is null"])
  })
})
