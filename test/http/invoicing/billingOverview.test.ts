import { afterAll, assert, beforeAll, describe, it } from "vitest"
import { invoiceClient } from "../../support/fixtures/invoices.ts"
import { insertIssues } from "../../support/fixtures/issueRows.ts"
import { jiraSettings } from "../../support/fixtures/jiraWebhooks.ts"
import { startServiceWithTenant } from "../../support/servers/serviceWithPool.ts"

describe("What is billed already", () => {
  let started: Awaited<ReturnType<typeof startServiceWithTenant>>
  let client: ReturnType<typeof invoiceClient>
  let jira: string
  beforeAll(async () => {
    started = await startServiceWithTenant(jiraSettings)
    client = invoiceClient(started.service, started.tenant)
    const { body } = await client.call("POST", "/integrations", {
      provider: "JIRA",
      name: "Jira",
      config: { siteId: "site" }
    })
    jira = body.data.id
    await insertIssues(started.pool, started.tenant, jira, 3, "NORTH")
  })
  afterAll(() => started.stop())

  const billingOf = async (contract: string) => (await client.call("GET", `/contracts/${contract}/billing`)).body.data

  it("of a contract is split into issued and drafted, and leaves the rest of the cap", async () => {
    const { id } = await client.contract({ capMinor: 1000 })
    assert.deepStrictEqual(await billingOf(id), {
      contract: id,
      currencyCode: "EUR",
      issuedMinor: 0,
      draftedMinor: 0,
      capMinor: 1000,
      leftMinor: 1000
    })
    const [issued, draft, voided] = [
      await client.draft({ contractId: id }),
      await client.draft({ contractId: id, discount: { amountMinor: 50 } }),
      await client.draft({ contractId: id })
    ]
    await client.add(issued.id, { amountMinor: 300 })
    await client.transition(issued.id, "finalize")
    await client.add(draft.id, { amountMinor: 250 })
    await client.add(voided.id, { amountMinor: 100 })
    await client.transition(voided.id, "void")
    assert.deepInclude(await billingOf(id), { issuedMinor: 300, draftedMinor: 200, leftMinor: 500 })
  })

  it("of a contract without a cap has no rest", async () => {
    const { id } = await client.contract()
    assert.notProperty(await billingOf(id), "leftMinor")
  })

  const keysOf = async (query: string) => {
    const { body } = await client.call("GET", `/integrations/${jira}/issues?${query}`)
    return body.data.map(({ issueKey }: { readonly issueKey: string }) => issueKey)
  }

  it("of a tracker is listed with billed=true, and the rest with billed=false, until the invoice is void", async () => {
    const { id } = await client.draft()
    const body = { integrationId: jira, issueKeys: ["NORTH-1"], amountMinor: 5 }
    assert.strictEqual((await client.call("POST", `/invoices/${id}/billables/from-issues`, body)).status, 201)
    assert.deepStrictEqual(await keysOf("billed=true&deleted=false"), ["NORTH-1"])
    assert.deepStrictEqual(await keysOf("billed=false&deleted=false"), ["NORTH-0", "NORTH-2"])
    await client.transition(id, "void")
    assert.deepStrictEqual(await keysOf("billed=true"), [])
  })

  it("is found by its reference, of which both parts are required", async () => {
    const { id } = await client.draft()
    const [line] = await client.add(id, { referenceType: "ticket", referenceId: "T-1" })
    const find = (query: string) => client.call("GET", `/billables?${query}`)
    assert.deepStrictEqual((await find("referenceType=ticket&referenceId=T-1")).body.data, [line])
    assert.deepStrictEqual((await find("referenceType=ticket&referenceId=T-2")).body.data, [])
    const { body, status } = await find("referenceId=T-1")
    assert.strictEqual(status, 400)
    assert.deepInclude(body.details[0], { field: "referenceType", constraint: "required" })
    await client.transition(id, "void")
    assert.deepStrictEqual((await find("referenceType=ticket&referenceId=T-1")).body.data, [])
  })
})
