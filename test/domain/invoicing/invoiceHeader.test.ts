import * as fc from "fast-check"
import { assert, describe, it } from "vitest"
import { headerErrors, headerFields } from "../../../src/domain/invoicing/InvoiceHeader.ts"
import { schemaErrorsOf } from "../../support/assertions/schemaErrors.ts"

const currencyCode = "EUR"
const day = fc.date({ noInvalidDate: true, min: new Date("1970-01-01"), max: new Date("9999-12-31") })
const toDay = (date: Date) => date.toISOString().slice(0, 10)

describe("The header of an invoice", () => {
  it("accepts a service period exactly when it does not end before it begins", () => {
    fc.assert(
      fc.property(day, day, (from, to) => {
        const [serviceFrom, serviceTo] = [toDay(from), toDay(to)]
        const isOrdered = new Date(serviceFrom).getTime() <= new Date(serviceTo).getTime()
        assert.lengthOf(headerErrors({ currencyCode, serviceFrom, serviceTo }), isOrdered ? 0 : 1)
      })
    )
  })

  it("accepts a service period with one end", () => {
    assert.deepStrictEqual(headerErrors({ currencyCode, serviceFrom: "2026-02-01" }), [])
    assert.deepStrictEqual(headerErrors({ currencyCode, serviceTo: "2026-02-01" }), [])
  })

  it("names both days of a period that ends before it begins", () => {
    assert.deepStrictEqual(headerErrors({ currencyCode, serviceFrom: "2026-02-01", serviceTo: "2026-01-31" }), [
      {
        field: "serviceTo",
        constraint: "min",
        message: "must not be before serviceFrom, 2026-02-01, but is 2026-01-31"
      }
    ])
  })

  it("has a tax currency and its rate, or neither", () => {
    assert.deepStrictEqual(headerErrors({ currencyCode }), [])
    assert.deepStrictEqual(headerErrors({ currencyCode, taxCurrencyCode: "SEK", taxCurrencyRate: 11 }), [])
    assert.deepStrictEqual(headerErrors({ currencyCode, taxCurrencyCode: "SEK" }), [
      { field: "taxCurrencyRate", constraint: "required", message: "is required together with taxCurrencyCode" }
    ])
    assert.deepStrictEqual(headerErrors({ currencyCode, taxCurrencyRate: 11 }), [
      { field: "taxCurrencyCode", constraint: "required", message: "is required together with taxCurrencyRate" }
    ])
  })

  it("has another tax currency than its own, and reports every error", () => {
    const error = {
      field: "taxCurrencyCode",
      constraint: "currency",
      message: "must be another currency than that of the invoice, EUR"
    } as const
    assert.deepStrictEqual(headerErrors({ currencyCode, taxCurrencyCode: "EUR", taxCurrencyRate: 1 }), [error])
    assert.deepStrictEqual(
      headerErrors({
        currencyCode,
        serviceFrom: "2026-02-01",
        serviceTo: "2026-01-31",
        taxCurrencyCode: "EUR"
      }).map(({ field }) => field),
      ["serviceTo", "taxCurrencyRate", "taxCurrencyCode"]
    )
  })

  it("accepts exactly the rates above 0 with at most 10 decimals", () => {
    const rate = headerFields.taxCurrencyRate.from
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 1_000_000_000 }), fc.integer({ min: 0, max: 10 }), (digits, decimals) => {
        assert.isUndefined(schemaErrorsOf(rate, Number(`${digits}e-${decimals}`)))
      })
    )
    for (const [value, error] of [
      [0, "min: must be greater than 0, but is 0"],
      [-1, "min: must be greater than 0, but is -1"],
      [1e-11, "format: must have at most 10 decimals, but is 1e-11"],
      [1.00000000001, "format: must have at most 10 decimals, but is 1.00000000001"],
      [1_000_000_001, "max: must be at most 1000000000, but is 1000000001"]
    ] as const) {
      assert.deepStrictEqual(schemaErrorsOf(rate, value), [`body ${error}`])
    }
  })
})
