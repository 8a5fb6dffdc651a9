import { assert, describe, it } from "vitest"
import {
  CreateBillables,
  hasTotal,
  lineErrors,
  maxBillablesPerRequest,
  PatchBillable,
  toLine
} from "../../../src/domain/invoicing/Billable.ts"
import { InvoiceId } from "../../../src/domain/invoicing/Invoice.ts"
import { maxMinor } from "../../../src/domain/money/Money.ts"
import { decode, schemaErrorsOf } from "../../support/assertions/schemaErrors.ts"

const invoice = { id: InvoiceId.make("inv_1"), currencyCode: "EUR" } as const
const line = { currencyCode: "EUR", lineTotalMinor: 100 }

const errorsOfLine = (fields: Parameters<typeof lineErrors>[0]) =>
  lineErrors(fields, "EUR").map(({ constraint, field, message }) => `${field} ${constraint}: ${message}`)

const errorsOfRequest = (fields: object) =>
  schemaErrorsOf(CreateBillables, { invoiceId: "inv_1", billables: [{ name: "Pump", amountMinor: 1, ...fields }] })

describe("toLine", () => {
  it("applies the quantity 1 and the currency of the invoice by default", () => {
    assert.deepStrictEqual(toLine(invoice, { name: "Pump", amountMinor: 250 }), {
      name: "Pump",
      amountMinor: 250,
      invoice: invoice.id,
      quantity: 1,
      currencyCode: "EUR",
      lineTotalMinor: 250
    })
  })

  it("keeps the quantity and the currency of the request", () => {
    const created = toLine(invoice, { name: "Pump", amountMinor: 250, quantity: 2.5, currencyCode: "USD" })
    assert.deepInclude(created, { quantity: 2.5, currencyCode: "USD", lineTotalMinor: 625 })
  })

  it("makes a line without a total beyond the exact range", () => {
    const created = toLine(invoice, { name: "Pump", amountMinor: maxMinor, quantity: 2 })
    assert.isUndefined(created.lineTotalMinor)
    assert.isFalse(hasTotal(created))
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
    assert.deepStrictEqual(errorsOfLine({ ...line, lineTotalMinor: undefined }), [
      "quantity max: times amountMinor must be within ±9007199254740991"
    ])
  })

  it("reports all errors of a line at once", () => {
    const errors = errorsOfLine({ currencyCode: "USD", referenceId: "7", lineTotalMinor: undefined })
    assert.deepStrictEqual(
      errors.map((error) => error.split(" ")[0]),
      ["currencyCode", "referenceType", "quantity"]
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
