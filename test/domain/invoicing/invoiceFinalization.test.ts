import fc from "fast-check"
import { assert, describe, it } from "vitest"
import type { Parties } from "../../../src/domain/invoicing/document/Parties.ts"
import { dueDateOf, requireFinalizable } from "../../../src/domain/invoicing/InvoiceFinalization.ts"
import { vatCategories } from "../../../src/domain/money/InvoiceArithmetic.ts"
import { assertPasses, errorsOf } from "../../support/assertions/decisions.ts"
import { addressOf, defaultParties } from "../../support/fixtures/invoiceDocuments.ts"

const issuedAt = "2026-02-27T12:00:00.000Z"
const utc = "UTC"
const draft = { status: "DRAFT", billableCount: 1, subtotalMinor: 100, totalMinor: 100, taxes: [] } as const
const withoutVatNumbers: Parties = {
  ...defaultParties,
  client: { name: "Northwind", address: addressOf({}) },
  tenant: { name: "Harbour Works" }
}

const taxOf = (category: (typeof vatCategories)[number] | undefined) => ({
  taxRates: ["tax_1"],
  name: "Tax",
  percent: category === "S" ? 19 : 0,
  ...(category === undefined ? {} : { category }),
  baseMinor: 100,
  taxMinor: 0
})

const decide = (fields: Partial<Parameters<typeof requireFinalizable>[0]>, parties = defaultParties) =>
  errorsOf(requireFinalizable({ ...draft, ...fields }, parties))

describe("requireFinalizable", () => {
  it("accepts a draft with one line and a total of zero", () => {
    assert.isUndefined(decide({ subtotalMinor: 0, totalMinor: 0 }))
  })

  it.each(["FINALIZED", "PAID", "VOID"] as const)("rejects an invoice that is %s", (status) => {
    assert.deepStrictEqual(decide({ status }), ["status state"])
  })

  it("rejects an invoice without lines", () => {
    assert.deepStrictEqual(decide({ billableCount: 0, subtotalMinor: 0, totalMinor: 0 }), ["billableCount min"])
  })

  it("rejects a negative total", () => {
    assert.deepStrictEqual(decide({ subtotalMinor: -1, totalMinor: -1 }), ["totalMinor min"])
  })

  it("accepts a discount of all there is, and rejects a larger one", () => {
    assert.isUndefined(decide({ discount: { amountMinor: 100 } }))
    assert.isUndefined(decide({ discount: { percent: 100 } }))
    assert.deepStrictEqual(decide({ discount: { amountMinor: 101 } }), ["discount.amountMinor max"])
  })

  it("requires the VAT numbers of both parties for the categories AE and K only", () => {
    for (const category of [undefined, ...vatCategories])
      assert.deepStrictEqual(
        decide({ taxes: [taxOf(category)] }, withoutVatNumbers),
        category === "AE" || category === "K"
          ? ["tenant.address.vatNumber required", "client.address.vatNumber required"]
          : undefined,
        category
      )
    assert.isUndefined(decide({ taxes: [taxOf("AE"), taxOf("K")] }))
  })

  it("reports all errors at once", () => {
    const errors = decide(
      { subtotalMinor: -1, totalMinor: -1, discount: { amountMinor: 1 }, taxes: [taxOf("K")] },
      { ...defaultParties, tenant: { name: "Harbour Works" } }
    )
    assert.deepStrictEqual(errors, ["totalMinor min", "discount.amountMinor max", "tenant.address.vatNumber required"])
  })
})

describe("dueDateOf", () => {
  it("adds the payment term of the contract to the date of issue", () => {
    assertPasses(dueDateOf({}, issuedAt, 0, utc), issuedAt)
    assertPasses(dueDateOf({}, issuedAt, 2, utc), "2026-03-01T12:00:00.000Z")
  })

  it("adds any payment term of up to 365 days", () => {
    fc.assert(
      fc.property(fc.integer({ min: 0, max: 365 }), (days) => {
        const due = new Date(Date.parse(issuedAt) + days * 86_400_000).toISOString()
        assertPasses(dueDateOf({}, issuedAt, days, utc), due)
      })
    )
  })

  it("keeps the time of day in the time zone of the tenant when clocks change", () => {
    // Summer time begins on 29 March 2026 in Berlin: 13:00 there is 12:00 UTC before and 11:00 UTC after it.
    assertPasses(dueDateOf({}, issuedAt, 30, "Europe/Berlin"), "2026-03-29T11:00:00.000Z")
    assertPasses(dueDateOf({}, issuedAt, 29, "Europe/Berlin"), "2026-03-28T12:00:00.000Z")
  })

  it("returns the due date of the invoice if it has one, and rejects one before the date of issue", () => {
    assertPasses(dueDateOf({ dueAt: issuedAt }, issuedAt, 30, utc), issuedAt)
    assert.deepStrictEqual(errorsOf(dueDateOf({ dueAt: "2026-02-27T11:59:59.999Z" }, issuedAt, 30, utc)), ["dueAt min"])
  })
})
