import { Redacted } from "effect"
import { assert, describe, it, onTestFinished } from "vitest"
import { quotaNames } from "../../../src/domain/quotas/Quotas.ts"
import { assertValidationError, quotaError } from "../../support/assertions/failures.ts"
import { minimalDrive } from "../../support/fixtures/authorizations.ts"
import { png } from "../../support/fixtures/images.ts"
import { minimalNats, minimalWebhook } from "../../support/fixtures/integrations.ts"
import { lineOf } from "../../support/fixtures/invoices.ts"
import { kilobyte, quotaSettings, smallQuotas, startServiceWithQuotas } from "../../support/fixtures/quotas.ts"
import { useFixture } from "../../support/fixtures/useFixture.ts"
import { startService } from "../../support/servers/service.ts"

describe("Quotas", () => {
  const at = useFixture(startServiceWithQuotas)

  it("are listed with maximum and description, and count the tenants of the caller", async () => {
    const { call, limits, owner } = await at().createQuotaTenant()
    await call("POST", "/members", { subject: "viewer", role: "VIEWER" })
    const listed = await limits()
    assert.deepStrictEqual(
      listed.map(({ max, name }) => [name, max]),
      quotaNames.map((name) => [name, smallQuotas[name]])
    )
    for (const { description } of listed) assert.match(description, /^maximum number of \w+/)
    const usedBy = async (as: string) =>
      Object.fromEntries((await limits(as)).flatMap(({ name, used }) => (used === undefined ? [] : [[name, used]])))
    const used = {
      tenants: 1,
      members: 2,
      integrations: 0,
      assets: 0,
      assetBytes: 0,
      taxRates: 0,
      tenantMails: 0,
      callerMails: 0
    }
    assert.deepStrictEqual(await usedBy(owner), used)
    assert.deepStrictEqual(await usedBy("viewer"), { ...used, tenants: 0 })
  })

  it("count grants that await confirmation as pending authorizations", async () => {
    const { authorizing } = await at().createQuotaTenant()
    const { id } = await authorizing.mustCreate(minimalDrive)
    const error = quotaError("pendingAuthorizations", smallQuotas.pendingAuthorizations, "integrationId")
    const confirmation = await authorizing.pendingConfirmation(id)
    for (let n = 1; n < smallQuotas.pendingAuthorizations; n++) await authorizing.authorizationUrlOf(id)
    assertValidationError(await authorizing.begin(id), error)
    assert.strictEqual((await authorizing.confirm(id, confirmation)).status, 200)
    await authorizing.authorizationUrlOf(id)
    assertValidationError(await authorizing.begin(id), error)
  })

  it("allow a rotation without overlap at the maximum of secrets", async () => {
    const { integrations } = await at().createQuotaTenant()
    const { id } = await integrations.mustCreate(minimalWebhook)
    for (let n = 1; n < smallQuotas.secrets; n++) await integrations.rotate(id)
    assertValidationError(await integrations.rotate(id), quotaError("secrets", smallQuotas.secrets, "overlapHours"))
    assert.strictEqual((await integrations.rotate(id, { overlapHours: 0 })).status, 200)
  })

  it("count equal bytes once, and the bytes of a finalized invoice after its asset is deleted", async () => {
    const { assets, call, invoicing, limit, tenant } = await at().createQuotaTenant()
    const bytesUsed = async () => (await limit("assetBytes")).used
    const image = png()
    const [one, other] = [await assets.createReady({}, image), await assets.createReady({}, image)]
    assert.strictEqual(await bytesUsed(), image.length)
    await assets.remove(other.assetId)
    assert.strictEqual(await bytesUsed(), image.length)
    await call("PUT", `/tenants/${tenant}/media/logo`, { assetId: one.assetId })
    const { id } = await invoicing.draft()
    await invoicing.add(id, {})
    assert.strictEqual((await call("POST", `/invoices/${id}/finalize`)).status, 200)
    await call("DELETE", `/tenants/${tenant}/media/logo`)
    assert.strictEqual((await assets.remove(one.assetId)).status, 204)
    assert.strictEqual(await bytesUsed(), image.length)
  })

  it("lowered below the current use reject only growth", async () => {
    const { assets, call, integrations, invoicing, make, owner, tenant } = await at().createQuotaTenant()
    const client = await make("clients")
    const { id: invoice } = await invoicing.draft()
    const [line] = await invoicing.add(invoice, {}, {}, {})
    const { id: integration } = await integrations.mustCreate(minimalNats)
    for (const eventType of ["client.*", "invoice.*", "asset.*"])
      await integrations.mustSubscribe(integration, { eventType })
    const [image] = [await assets.createReady(), await assets.createReady()]
    for (const slot of ["a", "b", "c"]) {
      await call("PUT", `/clients/${client.id}/media/${slot}`, { assetId: image.assetId })
    }
    const upload = (await assets.upload(Buffer.alloc(kilobyte, 1))).assetId

    const lowest = quotaSettings(Object.fromEntries(quotaNames.map((name) => [name, 1])))
    const lowered = await startService({
      DATABASE_URL: at().service.settings.DATABASE_URL?.pipe(Redacted.value) ?? "",
      ...lowest
    })
    onTestFinished(lowered.stop)
    const callLowered = (method: string, path: string, body?: unknown) =>
      lowered.api(method, path, { as: owner, tenant, ...(body === undefined ? {} : { body }) })
    const assertAccepted = async (...request: Parameters<typeof callLowered>) => {
      const { status, text } = await callLowered(...request)
      assert.isBelow(status, 300, text)
    }
    assertValidationError(
      await callLowered("POST", "/billables", { invoiceId: invoice, billables: [lineOf()] }),
      quotaError("invoiceLines", 1, "billables")
    )
    await assertAccepted("PATCH", `/billables/${line?.id}`, { amountMinor: 5 })
    await assertAccepted("DELETE", `/billables/${line?.id}`)
    assertValidationError(
      await callLowered("PUT", `/clients/${client.id}/media/d`, { assetId: image.assetId }),
      quotaError("mediaSlots", 1, "slot")
    )
    await assertAccepted("PUT", `/clients/${client.id}/media/a`, { assetId: image.assetId, order: 2 })
    await assertAccepted("PATCH", `/clients/${client.id}`, { name: "Renamed" })
    await assertAccepted("DELETE", `/clients/${client.id}/media/b`)
    assertValidationError(
      await callLowered("PUT", `/assets/${upload}/content`, Buffer.alloc(kilobyte + 1)),
      quotaError("assetBytes", 1, "body")
    )
    await assertAccepted("PUT", `/assets/${upload}/content`, Buffer.alloc(kilobyte, 2))
    await assertAccepted("POST", `/integrations/${integration}/pause`)
    await assertAccepted("DELETE", `/integrations/${integration}`)
    await assertAccepted("POST", "/integrations", minimalNats)
    assertValidationError(
      await callLowered("POST", "/integrations", minimalNats),
      quotaError("integrations", 1, "provider")
    )
  })
})
