import { assert, describe, it } from "vitest"
import {
  assertFailure,
  assertValidationError,
  forbiddenText,
  notFoundText,
  quotaError
} from "../../support/assertions/failures.ts"
import { invoiceClient } from "../../support/fixtures/invoices.ts"
import { quotaSettings } from "../../support/fixtures/quotas.ts"
import { commonRates, taxRateMaker } from "../../support/fixtures/taxRates.ts"
import { useFixture } from "../../support/fixtures/useFixture.ts"
import { startService } from "../../support/servers/service.ts"
import { startServiceWithPool } from "../../support/servers/serviceWithPool.ts"

describe("Tax rates", () => {
  const fixture = useFixture(startServiceWithPool)
  const createTenant = async () => {
    const { service } = fixture()
    const tenant = await service.newTenant()
    return { ...invoiceClient(service, tenant), ...taxRateMaker(service, tenant) }
  }

  it("are created, read, listed in their order and changed", async () => {
    const { call, createTaxRate } = await createTenant()
    const standard = await createTaxRate({ ...commonRates.standard, order: 2 })
    const exempt = await createTaxRate({ ...commonRates.exempt, order: 1, exemptionCode: "VATEX-EU-132" })
    const { createdAt, id, updatedAt, ...fields } = standard
    assert.match(id, /^tax_[a-z0-9]{26}$/)
    assert.strictEqual(createdAt, updatedAt)
    assert.deepStrictEqual(fields, { ...commonRates.standard, order: 2 })
    assert.deepStrictEqual((await call("GET", `/tax-rates/${id}`)).body.data, standard)
    assert.deepStrictEqual((await call("GET", "/tax-rates")).body.data, [exempt, standard])
    const changed = await call("PATCH", `/tax-rates/${exempt.id}`, { name: "Tax-free", exemptionCode: null, order: 3 })
    const { exemptionCode: _, ...kept } = exempt
    assert.deepStrictEqual(changed.body.data, {
      ...kept,
      name: "Tax-free",
      order: 3,
      updatedAt: changed.body.data.updatedAt
    })
    assert.deepStrictEqual((await call("GET", "/tax-rates")).body.data, [standard, changed.body.data])
  })

  it("need a percentage and an exemption reason that fit their category", async () => {
    const { call } = await createTenant()
    assertValidationError(
      await call("POST", "/tax-rates", { name: "Export", percent: 1, category: "G" }),
      ["percent", "max", "must be 0 for category G, but is 1"],
      ["exemptionReason", "required", "is required for category G"]
    )
    assert.deepStrictEqual((await call("GET", "/tax-rates")).body.data, [])
  })

  it.each([
    ["name", 1, 100],
    ["exemptionReason", 1, 500],
    ["exemptionCode", 1, 30]
  ])("have a %s of %i to %i characters", async (field, min, max) => {
    const { call, createTaxRate } = await createTenant()
    const { id } = await createTaxRate(commonRates.exempt)
    for (const value of ["a".repeat(min), "a".repeat(max)]) {
      assert.strictEqual((await createTaxRate({ ...commonRates.exempt, [field]: value }))[field], value)
      assert.strictEqual((await call("PATCH", `/tax-rates/${id}`, { [field]: value })).body.data[field], value)
    }
    const tooLong = [field, "maxLength", `must have at most ${max} characters`] as const
    const tooShort = [field, "minLength", "must have at least 1 character"] as const
    for (const [value, error] of [
      ["a".repeat(max + 1), tooLong],
      ["", tooShort]
    ] as const) {
      assertValidationError(await call("POST", "/tax-rates", { ...commonRates.exempt, [field]: value }), error)
      assertValidationError(await call("PATCH", `/tax-rates/${id}`, { [field]: value }), error)
    }
  })

  it("keep their exemption reason while their category needs one", async () => {
    const { call, createCommonRate } = await createTenant()
    const id = await createCommonRate("exempt")
    assertValidationError(await call("PATCH", `/tax-rates/${id}`, { exemptionReason: null }), [
      "exemptionReason",
      "required",
      "is required for category E"
    ])
  })

  it("never change their percentage or category", async () => {
    const { call, createCommonRate } = await createTenant()
    const id = await createCommonRate("standard")
    const { body, status } = await call("PATCH", `/tax-rates/${id}`, { percent: 7, category: "Z" })
    assert.strictEqual(status, 400)
    assert.deepStrictEqual(
      body.details.map(({ constraint, field }: { constraint: string; field: string }) => [field, constraint]),
      [
        ["percent", "unknown"],
        ["category", "unknown"]
      ]
    )
  })

  it("are archived once, and stay readable", async () => {
    const { call, createCommonRate } = await createTenant()
    const id = await createCommonRate("standard")
    const { body } = await call("POST", `/tax-rates/${id}/archive`)
    assert.isAtMost(Date.parse(body.data.archivedAt), Date.parse(body.data.updatedAt))
    assert.deepStrictEqual((await call("GET", `/tax-rates/${id}`)).body.data, body.data)
    assertValidationError(await call("POST", `/tax-rates/${id}/archive`), [
      "archivedAt",
      "state",
      `is ${body.data.archivedAt}; the tax rate is archived already`
    ])
  })

  it("cannot be archived while the tenant or a contract uses them by default", async () => {
    const { call, contract, createCommonRate, tenant } = await createTenant()
    const id = await createCommonRate("standard")
    const archive = () => call("POST", `/tax-rates/${id}/archive`)
    const { id: contractId } = await contract({ defaultTaxRateIds: [id] })
    assertValidationError(await archive(), ["id", "inUse", "is still a default of 1 contract"])
    assert.strictEqual((await call("PATCH", `/tenants/${tenant}`, { defaultTaxRateIds: [id] })).status, 200)
    assertValidationError(await archive(), ["id", "inUse", "is still a default of the tenant and 1 contract"])
    await call("PATCH", `/contracts/${contractId}`, { defaultTaxRateIds: null })
    assertValidationError(await archive(), ["id", "inUse", "is still a default of the tenant"])
    await call("PATCH", `/tenants/${tenant}`, { defaultTaxRateIds: [] })
    assert.strictEqual((await archive()).status, 200)
  })

  it("are either archived or made a default, never both, when both happen at once", async () => {
    const { call, contract, createCommonRate } = await createTenant()
    const { id: contractId } = await contract()
    for (let n = 0; n < 10; n++) {
      const id = await createCommonRate("cityTax")
      const [archived, used] = await Promise.all([
        call("POST", `/tax-rates/${id}/archive`),
        call("PATCH", `/contracts/${contractId}`, { defaultTaxRateIds: [id] })
      ])
      assert.deepStrictEqual([archived.status, used.status].sort(), [200, 400], `${archived.text} ${used.text}`)
    }
  })

  it("cannot become a default of another tenant, nor once they are archived", async () => {
    const one = await createTenant()
    const other = await createTenant()
    const foreign = await other.createCommonRate("standard")
    const archived = await one.createCommonRate("cityTax")
    const { archivedAt } = (await one.call("POST", `/tax-rates/${archived}/archive`)).body.data
    const reduced = await one.createCommonRate("reduced")
    const ids = { defaultTaxRateIds: [foreign, archived, reduced] }
    const expected = [
      ["defaultTaxRateIds[0]", "exists", "does not exist in this tenant"],
      ["defaultTaxRateIds[1]", "state", `is archived since ${archivedAt}; use another tax rate`]
    ] as const
    assertValidationError(await one.call("PATCH", `/tenants/${one.tenant}`, ids), ...expected)
    const { client, id } = await one.contract()
    assertValidationError(await one.call("PATCH", `/contracts/${id}`, ids), ...expected)
    const created = { name: "Contract", currencyCode: "EUR", clientId: client, ...ids }
    assertValidationError(await one.call("POST", "/contracts", created), ...expected)
    for (const path of [`/tax-rates/${foreign}`, `/tax-rates/${foreign}/archive`])
      assertFailure(await one.call(path.endsWith("archive") ? "POST" : "GET", path), 404, notFoundText)
  })

  it("are changed by an ADMIN and read by a VIEWER", async () => {
    const { service } = fixture()
    const { createCommonRate, tenant } = await createTenant()
    const id = await createCommonRate("standard")
    for (const [as, role] of [
      ["viewer", "VIEWER"],
      ["member", "MEMBER"]
    ] as const) {
      await service.api("POST", "/members", { as: "owner", tenant, body: { subject: as, role } })
      assert.strictEqual((await service.api("GET", "/tax-rates", { as, tenant })).status, 200)
      const body = commonRates.reduced
      assertFailure(await service.api("POST", "/tax-rates", { as, tenant, body }), 403, forbiddenText)
      assertFailure(
        await service.api("PATCH", `/tax-rates/${id}`, { as, tenant, body: { order: 1 } }),
        403,
        forbiddenText
      )
      assertFailure(await service.api("POST", `/tax-rates/${id}/archive`, { as, tenant }), 403, forbiddenText)
    }
  })
})

describe("The quota of tax rates", () => {
  const service = useFixture(() => startService(quotaSettings({ taxRates: 2 })))

  it("counts archived rates and rejects one more", async () => {
    const tenant = await service().newTenant()
    const { createCommonRate } = taxRateMaker(service(), tenant)
    const id = await createCommonRate("standard")
    await createCommonRate("reduced")
    await service().api("POST", `/tax-rates/${id}/archive`, { as: "owner", tenant })
    const response = await service().api("POST", "/tax-rates", { as: "owner", tenant, body: commonRates.cityTax })
    assertValidationError(response, quotaError("taxRates", 2, "name"))
  })
})
