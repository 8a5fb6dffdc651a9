import { assert, describe, it } from "vitest"
import { assertValidationError } from "../../support/assertions/failures.ts"
import { readPdf, textsOf } from "../../support/assertions/pdfText.ts"
import { makeInvoiceSeries } from "../../support/fixtures/invoiceSeries.ts"
import { useFixture } from "../../support/fixtures/useFixture.ts"
import { startServiceWithPool } from "../../support/servers/serviceWithPool.ts"

describe("The time zone of a tenant", () => {
  const fixture = useFixture(startServiceWithPool)

  /** A tenant in a time zone. Its last invoice was issued shortly before a new year in UTC, far ahead of the clock. */
  const createTenant = async (timeZone: string) => {
    const { pool, service } = fixture()
    const series = await makeInvoiceSeries(service)
    const { tenant } = series
    const patched = await service.api("PATCH", `/tenants/${tenant}`, { as: "owner", tenant, body: { timeZone } })
    assert.strictEqual(patched.body.data.timeZone, timeZone, patched.text)
    await series.issueNext()
    await pool.query("update invoice_series set last_issued = $2 where tenant_id = $1", [
      tenant,
      "2099-12-31T23:30:00.000Z"
    ])
    return series
  }

  it("is UTC unless it is set", async () => {
    const { body } = await fixture().service.api("POST", "/tenants", { as: "owner", body: { name: "Harbour" } })
    assert.strictEqual(body.data.timeZone, "UTC")
  })

  it("must be an IANA name", async () => {
    const body = { name: "Harbour", timeZone: "Berlin" }
    assertValidationError(await fixture().service.api("POST", "/tenants", { as: "owner", body }), [
      "timeZone",
      "format",
      "must be an IANA time zone such as Europe/Berlin"
    ])
  })

  it.each([
    ["UTC", "INV-2099-000001", "31 Dec 2099"],
    ["Europe/Berlin", "INV-2100-000001", "1 Jan 2100"],
    ["America/New_York", "INV-2099-000001", "31 Dec 2099"]
  ])("decides the year of the number and the dates on paper: %s", async (timeZone, invoiceNumber, day) => {
    const { service } = fixture()
    const { issueNext, tenant } = await createTenant(timeZone)
    const issued = await issueNext()
    assert.deepInclude(issued, { invoiceNumber, issuedAt: "2099-12-31T23:30:00.000Z" })
    const response = await fetch(`${service.url}/api/v1/invoices/${issued.id}/pdf`, {
      headers: { authorization: `Bearer ${await service.token("owner")}`, "tenant-id": tenant }
    })
    const { pages } = await readPdf(new Uint8Array(await response.arrayBuffer()))
    assert.include(pages.flatMap(textsOf), day)
  })
})
