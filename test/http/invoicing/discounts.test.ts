import { assert, describe, it } from "vitest"
import { assertValidationError } from "../../support/assertions/failures.ts"
import { invoiceClient } from "../../support/fixtures/invoices.ts"
import { taxRateMaker } from "../../support/fixtures/taxRates.ts"
import { useFixture } from "../../support/fixtures/useFixture.ts"
import { startService } from "../../support/servers/service.ts"

describe("Discounts", () => {
  const service = useFixture(startService)
  const createTenant = async () => {
    const tenant = await service().newTenant()
    return { ...invoiceClient(service(), tenant), ...taxRateMaker(service(), tenant) }
  }

  it("on a line are taken off its total", async () => {
    const { add, call, draft, read } = await createTenant()
    const { id } = await draft()
    const [share, fixed] = await add(
      id,
      { amountMinor: 1005, discount: { percent: 10 }, discountReason: "Loyalty" },
      { amountMinor: 1000, discount: { amountMinor: 1000 } }
    )
    assert.deepInclude(share, {
      discount: { percent: 10 },
      discountReason: "Loyalty",
      discountMinor: 101,
      lineTotalMinor: 904
    })
    assert.deepInclude(fixed, { discount: { amountMinor: 1000 }, discountMinor: 1000, lineTotalMinor: 0 })
    assert.deepInclude(await read(id), { subtotalMinor: 904, discountMinor: 0, totalMinor: 904 })
    const patched = await call("PATCH", `/billables/${share?.id}`, { discount: null, discountReason: null })
    assert.deepInclude(patched.body.data, { discountMinor: 0, lineTotalMinor: 1005 })
    assert.notProperty(patched.body.data, "discount")
    assert.deepInclude(await read(id), { subtotalMinor: 1005, totalMinor: 1005 })
  })

  it("on a line need a positive amount and do not exceed it", async () => {
    const { add, call, draft, tryAdd } = await createTenant()
    const { id } = await draft()
    assertValidationError(
      await tryAdd(
        id,
        { amountMinor: -5, discount: { percent: 10 } },
        { amountMinor: 5, discount: { amountMinor: 6 } },
        { discountReason: "Loyalty" }
      ),
      [
        "billables[0].discount",
        "min",
        "is only for a line with a positive amount, but quantity times amountMinor is -5"
      ],
      ["billables[1].discount.amountMinor", "max", "must be at most 5, the amount of the line"],
      ["billables[2].discount", "required", "is required together with discountReason"]
    )
    const [line] = await add(id, { amountMinor: 5, discount: { amountMinor: 5 } })
    assertValidationError(await call("PATCH", `/billables/${line?.id}`, { amountMinor: 4 }), [
      "discount.amountMinor",
      "max",
      "must be at most 4, the amount of the line, but is 5"
    ])
  })

  it("on an invoice are split over the tax sets by weight", async () => {
    const { add, call, createCommonRate, draft } = await createTenant()
    const [standard, reduced] = [await createCommonRate("standard"), await createCommonRate("reduced")]
    const { id } = await draft()
    await add(
      id,
      { amountMinor: 20_000, taxRateIds: [standard] },
      { amountMinor: 10_000, taxRateIds: [reduced] },
      { amountMinor: 1, taxRateIds: [] }
    )
    const { body } = await call("PATCH", `/invoices/${id}`, { discount: { percent: 10 }, discountReason: "Spring" })
    const baseOf = (name: string) => body.data.taxes.find((tax: { name: string }) => tax.name === name)?.baseMinor
    assert.deepInclude(body.data, { discountMinor: 3000, discountReason: "Spring", subtotalMinor: 30_001 })
    assert.deepStrictEqual([baseOf("VAT 19 %"), baseOf("VAT 7 %")], [18_000, 9000])
    assert.deepInclude(body.data, { taxMinor: 3420 + 630, totalMinor: 30_001 - 3000 + 4050 })
  })

  it("on a draft take at most what there is, and finalize rejects one that takes less than it says", async () => {
    const { add, call, draft, read, transition, tryTransition } = await createTenant()
    const { id } = await draft({ discount: { amountMinor: 500 } })
    assert.deepInclude(await read(id), { discountMinor: 0, totalMinor: 0 })
    const [line] = await add(id, { amountMinor: 300 })
    assert.deepInclude(await read(id), { discountMinor: 300, totalMinor: 0 })
    assertValidationError(await tryTransition(id, "finalize"), [
      "discount.amountMinor",
      "max",
      "must be at most 300, the sum of the lines, but is 500"
    ])
    await call("PATCH", `/billables/${line?.id}`, { amountMinor: 501 })
    assert.deepInclude(await transition(id, "finalize"), { discountMinor: 500, totalMinor: 1 })
  })

  it("on an invoice need a reason only together with a discount", async () => {
    const { call, draft } = await createTenant()
    const { contract, id } = await draft()
    const missing = ["discount", "required", "is required together with discountReason"] as const
    assertValidationError(await call("PATCH", `/invoices/${id}`, { discountReason: "Loyalty" }), missing)
    assertValidationError(await call("POST", "/invoices", { contractId: contract, discountReason: "Loyalty" }), missing)
  })

  it("cannot change once the invoice is finalized", async () => {
    const { call, invoiceIn } = await createTenant()
    const { id } = await invoiceIn("FINALIZED")
    assertValidationError(await call("PATCH", `/invoices/${id}`, { discount: { percent: 1 } }), [
      "status",
      "state",
      "is FINALIZED; only a DRAFT invoice and its billables can be changed or deleted"
    ])
  })
})
