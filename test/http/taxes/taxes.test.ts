import { assert, describe, it } from "vitest"
import { assertValidationError } from "../../support/assertions/failures.ts"
import { insertIntegration } from "../../support/fixtures/deliveryRows.ts"
import { type InvoiceBody, invoiceClient, readBilledMinor } from "../../support/fixtures/invoices.ts"
import { insertIssues } from "../../support/fixtures/issueRows.ts"
import { type ResourceBody, resourceMaker } from "../../support/fixtures/resources.ts"
import { taxRateMaker } from "../../support/fixtures/taxRates.ts"
import { useFixture } from "../../support/fixtures/useFixture.ts"
import { startServiceWithPool } from "../../support/servers/serviceWithPool.ts"

describe("Taxes of an invoice", () => {
  const fixture = useFixture(startServiceWithPool)
  const createTenant = async () => {
    const { service } = fixture()
    const tenant = await service.newTenant()
    const { make } = resourceMaker(service, tenant)
    return { ...invoiceClient(service, tenant), ...taxRateMaker(service, tenant), make }
  }

  it("are computed once per rate from the sum of its lines", async () => {
    const { add, createCommonRate, draft, read } = await createTenant()
    const [standard, reduced] = [await createCommonRate("standard"), await createCommonRate("reduced")]
    const { id } = await draft()
    // 19 % of 50 is 9.5: rounded per line it would be 10 three times.
    const lines = await add(
      id,
      { amountMinor: 50, taxRateIds: [standard] },
      { amountMinor: 50, taxRateIds: [standard] },
      { amountMinor: 50, taxRateIds: [standard] },
      { amountMinor: 1000, taxRateIds: [reduced] },
      { amountMinor: 7, taxRateIds: [] }
    )
    assert.deepStrictEqual(
      lines.map(({ taxRates }) => taxRates),
      [[standard], [standard], [standard], [reduced], []]
    )
    assert.deepInclude(await read(id), {
      subtotalMinor: 1157,
      discountMinor: 0,
      taxes: [
        { taxRates: [standard], name: "VAT 19 %", percent: 19, category: "S", baseMinor: 150, taxMinor: 29 },
        { taxRates: [reduced], name: "VAT 7 %", percent: 7, category: "S", baseMinor: 1000, taxMinor: 70 }
      ],
      taxMinor: 99,
      totalMinor: 1256,
      billableCount: 5
    })
  })

  it("follow every change of a line", async () => {
    const { add, call, createCommonRate, draft, read } = await createTenant()
    const [standard, cityTax] = [await createCommonRate("standard"), await createCommonRate("cityTax")]
    const { id } = await draft()
    const [one, other] = await add(id, { amountMinor: 1000, taxRateIds: [standard] }, { amountMinor: 500 })
    const taxesAfter = async () => {
      const { taxMinor, taxes, totalMinor } = await read(id)
      return [taxes.map(({ baseMinor, name }) => `${name} of ${baseMinor}`), taxMinor, totalMinor]
    }
    assert.deepStrictEqual(await taxesAfter(), [["VAT 19 % of 1000"], 190, 1690])
    await call("PATCH", `/billables/${other?.id}`, { taxRateIds: [cityTax, standard] })
    assert.deepStrictEqual(await taxesAfter(), [["VAT 19 % of 1500", "City tax of 500"], 298, 1798])
    await call("PATCH", `/billables/${one?.id}`, { quantity: 2 })
    assert.deepStrictEqual(await taxesAfter(), [["VAT 19 % of 2500", "City tax of 500"], 488, 2988])
    await call("DELETE", `/billables/${other?.id}`)
    assert.deepStrictEqual(await taxesAfter(), [["VAT 19 % of 2000"], 380, 2380])
    await call("PATCH", `/billables/${one?.id}`, { taxRateIds: [] })
    assert.deepStrictEqual(await taxesAfter(), [[], 0, 2000])
  })

  it("come from the contract, else from the tenant, when a line names none", async () => {
    const { add, call, contract, createCommonRate, draft, tenant } = await createTenant()
    const [standard, reduced] = [await createCommonRate("standard"), await createCommonRate("reduced")]
    await call("PATCH", `/tenants/${tenant}`, { defaultTaxRateIds: [standard] })
    const ratesUnder = async (fields: object) => {
      const { id } = await draft({ contractId: (await contract(fields)).id })
      const [given, empty] = await add(id, {}, { taxRateIds: [] })
      assert.deepStrictEqual(empty?.taxRates, [])
      return given?.taxRates
    }
    assert.deepStrictEqual(await ratesUnder({}), [standard])
    assert.deepStrictEqual(await ratesUnder({ defaultTaxRateIds: [reduced] }), [reduced])
    assert.deepStrictEqual(await ratesUnder({ defaultTaxRateIds: [] }), [])
  })

  it("apply to lines from issues, by default or as the request says", async () => {
    const { call, createCommonRate, draft, read, tenant } = await createTenant()
    const [standard, reduced] = [await createCommonRate("standard"), await createCommonRate("reduced")]
    await call("PATCH", `/tenants/${tenant}`, { defaultTaxRateIds: [standard] })
    const integrationId = await insertIntegration(fixture().pool, tenant)
    await insertIssues(fixture().pool, tenant, integrationId, 4, "TAX")
    const { id } = await draft()
    const bill = (fields: object) =>
      call("POST", `/invoices/${id}/billables/from-issues`, { integrationId, amountMinor: 1000, ...fields })
    const byDefault = await bill({ issueKeys: ["TAX-0"] })
    assert.deepStrictEqual(byDefault.body.data[0].taxRates, [standard], byDefault.text)
    const chosen = await bill({ issueKeys: ["TAX-1"], taxRateIds: [reduced] })
    assert.deepStrictEqual(chosen.body.data[0].taxRates, [reduced], chosen.text)
    assert.deepInclude(await read(id), { taxMinor: 190 + 70, totalMinor: 2260 })
    const unknown = `tax_${"0".repeat(26)}`
    for (const selection of [{ issueKeys: ["TAX-2", "TAX-3"] }, { filter: {} }])
      assertValidationError(await bill({ ...selection, taxRateIds: [unknown] }), [
        "taxRateIds[0]",
        "exists",
        "does not exist in this tenant"
      ])
  })

  it("reject rates that cannot be used, line by line", async () => {
    const { call, createCommonRate, draft, tryAdd } = await createTenant()
    const other = await createTenant()
    const [standard, reduced] = [await createCommonRate("standard"), await createCommonRate("reduced")]
    const foreign = await other.createCommonRate("standard")
    const archived = await createCommonRate("cityTax")
    const { archivedAt } = (await call("POST", `/tax-rates/${archived}/archive`)).body.data
    const { id } = await draft()
    assertValidationError(
      await tryAdd(
        id,
        { taxRateIds: [foreign] },
        { taxRateIds: [standard] },
        { taxRateIds: [archived, standard, reduced] }
      ),
      ["billables[0].taxRateIds[0]", "exists", "does not exist in this tenant"],
      ["billables[2].taxRateIds[0]", "state", `is archived since ${archivedAt}; use another tax rate`],
      ["billables[2].taxRateIds", "maxItems", "must have at most 1 tax rate with a VAT category"]
    )
  })

  it("stay on a line whose rate is archived later", async () => {
    const { add, call, createCommonRate, draft, transition } = await createTenant()
    const cityTax = await createCommonRate("cityTax")
    const { id } = await draft()
    const [line] = await add(id, { amountMinor: 1000, taxRateIds: [cityTax] })
    await call("POST", `/tax-rates/${cityTax}/archive`)
    const patched = await call("PATCH", `/billables/${line?.id}`, { quantity: 2, taxRateIds: [cityTax] })
    assert.strictEqual(patched.status, 200, patched.text)
    assert.deepInclude(await transition(id, "finalize"), { taxMinor: 50, totalMinor: 2050 })
  })

  it("have the names that the rates have when the invoice is finalized, and keep them", async () => {
    const { add, call, createCommonRate, draft, read, transition } = await createTenant()
    const standard = await createCommonRate("standard")
    const { id } = await draft()
    await add(id, { taxRateIds: [standard] })
    const rename = async (name: string) => {
      assert.strictEqual((await call("PATCH", `/tax-rates/${standard}`, { name })).status, 200)
    }
    const nameIn = ({ taxes }: InvoiceBody) => taxes[0]?.name
    await rename("MwSt. 19 %")
    assert.strictEqual(nameIn(await transition(id, "finalize")), "MwSt. 19 %")
    await rename("Something else")
    assert.strictEqual(nameIn(await read(id)), "MwSt. 19 %")
  })

  it("of category AE or K need the VAT numbers of both parties", async () => {
    const { add, call, contract, createCommonRate, draft, make, transition, tryTransition } = await createTenant()
    for (const rate of ["reverseCharge", "withinEu"] as const) {
      const taxRateIds = [await createCommonRate(rate)]
      const { client, id: contractId } = await contract()
      const { id } = await draft({ contractId })
      await add(id, { taxRateIds })
      const category = rate === "withinEu" ? "K" : "AE"
      const missing = (side: string) =>
        [
          `${side}.address.vatNumber`,
          "required",
          `is required for taxes of category ${category}; add it to the first address of the ${side}`
        ] as const
      assertValidationError(await tryTransition(id, "finalize"), missing("tenant"), missing("client"))
      const own = await make("addresses", { clientId: undefined, vatNumber: "DE123456789" })
      assertValidationError(await tryTransition(id, "finalize"), missing("client"))
      await make("addresses", { clientId: client, vatNumber: "FR12345678901" })
      assert.deepInclude(await transition(id, "finalize"), { taxMinor: 0, totalMinor: 100 })
      await call("DELETE", `/addresses/${own.id}`)
    }
  })

  it("do not count towards the cap of the contract, and discounts do", async () => {
    const { add, call, contract, createCommonRate, draft, transition, tryAdd } = await createTenant()
    const standard = await createCommonRate("standard")
    const { id: contractId } = await contract({ capMinor: 1000 })
    const { id } = await draft({ contractId, discount: { amountMinor: 100 } })
    await add(id, { amountMinor: 1100, taxRateIds: [standard] })
    assert.strictEqual(await readBilledMinor(fixture().pool, contractId), 1000)
    assertValidationError(await tryAdd(id, { amountMinor: 1 }), [
      "billables",
      "max",
      `would bring the billed amount of contract ${contractId} to 10.01 EUR, above its capMinor of 10.00 EUR`
    ])
    const withoutDiscount = await call("PATCH", `/invoices/${id}`, { discount: null })
    assert.strictEqual(withoutDiscount.body.details[0].field, "discount", withoutDiscount.text)
    await transition(id, "void")
    assert.strictEqual(await readBilledMinor(fixture().pool, contractId), 0)
  })

  it("are part of the events of the invoice and its lines", async () => {
    const { add, createCommonRate, draft, read, tenant } = await createTenant()
    const standard = await createCommonRate("standard")
    const { id } = await draft()
    const [line] = await add(id, { taxRateIds: [standard] })
    const { rows } = await fixture().pool.query<{ type: string; data: ResourceBody }>(
      "select type, data from events where tenant_id = $1",
      [tenant]
    )
    const dataOf = (type: string) => rows.find((event) => event.type === type)?.data
    assert.deepStrictEqual(dataOf("invoice.updated"), await read(id))
    assert.deepStrictEqual(dataOf("billable.created"), line)
    assert.strictEqual(dataOf("tax_rate.created")?.id, standard)
  })
})
