import { assert, beforeAll, describe, it } from "vitest"
import { operationsOf } from "../support/assertions/operations.ts"
import { assetClient } from "../support/fixtures/assets.ts"
import { authorizationClient, minimalJira, startServiceWithProvider } from "../support/fixtures/authorizations.ts"
import { insertDelivery } from "../support/fixtures/deliveryRows.ts"
import { integrationClient } from "../support/fixtures/integrations.ts"
import { invoiceClient } from "../support/fixtures/invoices.ts"
import { insertInboundWebhook, insertIssues } from "../support/fixtures/issueRows.ts"
import { makeWebhookBody } from "../support/fixtures/jiraWebhookBody.ts"
import { jiraSender } from "../support/fixtures/jiraWebhooks.ts"
import { startPayer } from "../support/fixtures/payments.ts"
import { kindsInTenants, resourceMaker } from "../support/fixtures/resources.ts"
import { taxRateMaker } from "../support/fixtures/taxRates.ts"
import { useFixture } from "../support/fixtures/useFixture.ts"
import type { Service } from "../support/servers/service.ts"

describe("The events that the OpenAPI document lists", () => {
  const fixture = useFixture(startServiceWithProvider)
  /** The event types that each operation recorded, by its name. */
  const recorded = new Map<string, Set<string>>()

  const operations = () =>
    operationsOf(fixture().service.document).map(({ name, path, method }) => ({
      name,
      method,
      pattern: new RegExp(`^${path.replace(/\{\w+\}/g, "[^/]+")}$`),
      documented: [...(/^\*\*Events:\*\* (.*)$/m.exec(textOf(path, method))?.[1] ?? "").matchAll(/`([\w.]+)`/g)].map(
        ([, type = ""]) => type
      )
    }))
  const textOf = (path: string, method: string) =>
    fixture().service.document.paths[path]?.[method.toLowerCase()]?.description ?? ""

  /** The service, whose requests are recorded with the events they cause. */
  const recordingService = (): Service => ({
    ...fixture().service,
    api: async (method, path, options) => {
      const { pool, service } = fixture()
      const before = await pool.query<{ id: string }>("select id from events")
      const known = new Set(before.rows.map(({ id }) => id))
      const response = await service.api(method, path, options)
      const { rows } = await pool.query<{ id: string; type: string }>("select id, type from events")
      const address = `/api/v1${path.split("?", 1)[0]}`
      const exact = operations().filter((one) => one.method === method && one.pattern.test(address))
      const name = exact.find((one) => !one.name.includes("{"))?.name ?? exact[0]?.name ?? assert.fail(address)
      const types = recorded.get(name) ?? new Set()
      recorded.set(name, types)
      for (const { id, type } of rows) if (!known.has(id)) types.add(type)
      return response
    }
  })

  const send = async (service: Service, method: string, path: string, body?: unknown, expected = 200) => {
    const { tenant } = fixture()
    const response = await service.api(method, path, { as: "owner", tenant, ...(body === undefined ? {} : { body }) })
    assert.strictEqual(response.status, expected, `${method} ${path}: ${response.text}`)
    return response.body?.data
  }

  const changeContracting = async (service: Service) => {
    for (const kind of kindsInTenants) {
      const { id } = await resourceMaker(service, fixture().tenant).make(kind)
      await send(service, "PATCH", `/${kind}/${id}`, { order: 3 })
      await send(service, "DELETE", `/${kind}/${id}`, undefined, 204)
    }
    const member = await send(service, "POST", "/members", { subject: "somebody", role: "VIEWER" }, 201)
    await send(service, "PATCH", `/members/${member.id}`, { role: "MEMBER" })
    await send(service, "DELETE", `/members/${member.id}`, undefined, 204)
  }

  const changeInvoices = async (service: Service) => {
    const invoices = invoiceClient(service, fixture().tenant)
    await invoices.invoiceIn("PAID")
    await invoices.invoiceIn("VOID")
    await send(service, "PATCH", "/invoice-series", { pattern: "N-{seq}" })
    const { id, line } = await invoices.invoiceIn("DRAFT")
    await send(service, "PATCH", `/invoices/${id}`, { dueAt: "2030-01-01T00:00:00Z" })
    await send(service, "PATCH", `/billables/${line}`, { quantity: 2 })
    await send(service, "DELETE", `/billables/${line}`, undefined, 204)
    await invoices.add(id, {})
    await send(service, "DELETE", `/invoices/${id}`, undefined, 204)
  }

  /** Credits an invoice that is paid or written off, so that the reversal uses the credit. */
  const changeCreditNotes = async (payer: Awaited<ReturnType<typeof startPayer>>) => {
    const [paid, writtenOff, open] = [await payer.newInvoice(9), await payer.newInvoice(9), await payer.newInvoice(9)]
    const payment = await payer.pay(9, [[paid.id, 9]])
    await payer.act(`/invoices/${writtenOff.id}/write-off`, { reason: "Goodwill" })
    for (const { id } of [paid, writtenOff]) await payer.finalizeNote((await payer.draftNote(id)).id)
    await payer.act(`/payments/${payment.id}/reverse`, { reason: "Returned" })
    await payer.act(`/invoices/${writtenOff.id}/write-off/reverse`)
    const [line] = await payer.get<ReadonlyArray<{ id: string }>>(`/billables?invoiceId=${open.id}`)
    const part = { lines: [{ billableId: line?.id, amountMinor: 1 }] }
    await payer.finalizeNote((await payer.draftNote(open.id, part)).id)
    const other = await payer.newInvoice(9)
    await payer.transition(other.id, "pay")
    const { id } = await payer.finalizeNote((await payer.draftNote(other.id)).id)
    await payer.act(`/credit-notes/${id}/allocate`, { invoiceId: open.id, amountMinor: 7 })
    await payer.act(`/credit-notes/${id}/refund`, { amountMinor: 1 })
    const draft = await payer.draftNote(open.id)
    await payer.call("PATCH", `/credit-notes/${draft.id}`, { reason: "Another" })
    await payer.call("DELETE", `/credit-notes/${draft.id}`)
    await payer.call("PATCH", "/credit-note-series", { pattern: "CN-{seq}" })
  }

  const changePayments = async (service: Service) => {
    const payer = await startPayer(service, fixture().tenant)
    await payer.newInvoice(0)
    const { id } = await payer.newInvoice(100)
    const first = await payer.pay(80, [[id, 10]])
    await payer.act(`/payments/${first.id}/allocate`, { invoiceId: id, amountMinor: 50 })
    await payer.act(`/payments/${first.id}/refund`, { amountMinor: 20 })
    const second = await payer.pay(40, [[id, 39]])
    await payer.act(`/payments/${second.id}/allocate`, { invoiceId: id, amountMinor: 1 })
    await payer.act(`/payments/${second.id}/reverse`, { reason: "Returned" })
    const third = await payer.pay(40, [[id, 40]])
    await payer.act(`/payments/${third.id}/reverse`, { reason: "Returned" })
    await changeCreditNotes(payer)
    const fourth = await payer.pay(10, [[id, 10]])
    await payer.act(`/payments/${fourth.id}/reverse`, { reason: "Returned" })
    await payer.act(`/invoices/${id}/write-off`, { amountMinor: 1, reason: "Goodwill" })
    await payer.act(`/invoices/${id}/write-off/reverse`)
    await payer.act(`/invoices/${id}/write-off`, { reason: "Goodwill" })
    await payer.act(`/invoices/${id}/write-off/reverse`)
  }

  const changeTaxRates = async (service: Service) => {
    const { id } = await taxRateMaker(service, fixture().tenant).createTaxRate({ name: "Tax", percent: 1 })
    await send(service, "PATCH", `/tax-rates/${id}`, { order: 1 })
    await send(service, "POST", `/tax-rates/${id}/archive`)
  }

  const changeImages = async (service: Service) => {
    const { tenant } = fixture()
    const assets = assetClient(service, tenant)
    const failed = await assets.upload(Buffer.from("no image"))
    assert.strictEqual((await assets.complete(failed.assetId)).status, 400)
    const { assetId } = await assets.createReady()
    const { id } = await resourceMaker(service, tenant).make("clients")
    for (const owner of [`/tenants/${tenant}`, `/clients/${id}`]) {
      await send(service, "PUT", `${owner}/media/logo`, { assetId })
      await send(service, "DELETE", `${owner}/media/logo`, undefined, 204)
    }
    await send(service, "PATCH", `/assets/${assetId}`, { access: "SIGNED" })
    await send(service, "DELETE", `/assets/${assetId}`, undefined, 204)
  }

  const changeIntegrations = async (service: Service) => {
    const { pool, server, tenant } = fixture()
    const integrations = integrationClient(service, tenant)
    const { id } = await integrations.mustCreate()
    const subscription = await integrations.mustSubscribe(id)
    await send(service, "PATCH", `/integrations/${id}`, { name: "Renamed" })
    await send(service, "POST", `/integrations/${id}/rotate-secret`, {})
    for (const action of ["ping", "pause", "resume"]) await send(service, "POST", `/integrations/${id}/${action}`)
    const delivery = await insertDelivery(pool, tenant, id)
    await send(service, "POST", `/integrations/${id}/deliveries/${delivery}/redeliver`)
    await send(service, "POST", `/integrations/${id}/redeliver`, { since: "2020-01-01T00:00:00Z" })
    await send(service, "DELETE", `/integrations/${id}/subscriptions/${subscription.id}`, undefined, 204)
    await send(service, "DELETE", `/integrations/${id}`, undefined, 204)

    const authorizations = authorizationClient(service, server, tenant)
    await authorizations.createAuthorized()
    const confirmed = (await authorizations.mustCreate(minimalJira)).id
    await authorizations.confirm(confirmed, await authorizations.pendingConfirmation(confirmed))
  }

  const changeMails = async (service: Service) => {
    const payer = await startPayer(service, fixture().tenant)
    const config = { host: "127.0.0.1", port: 9, security: "STARTTLS", from: "books@seller.example" }
    await send(service, "POST", "/integrations", { provider: "EMAIL", name: "Mail", config }, 201)
    const invoice = await payer.newInvoice(9)
    const note = await payer.finalizeNote((await payer.draftNote(invoice.id)).id)
    const to = ["ada@client.example"]
    await send(service, "POST", `/invoices/${invoice.id}/send`, { to }, 202)
    await send(service, "POST", `/credit-notes/${note.id}/send`, { to }, 202)
    await send(service, "POST", `/invoices/${invoice.id}/link/rotate`)
    await send(service, "DELETE", `/invoices/${invoice.id}/link`, undefined, 204)
  }

  const changeIssues = async (service: Service) => {
    const { pool, tenant } = fixture()
    const jira = jiraSender(service)
    const { id, key } = await jira.createIntegration(tenant)
    assert.strictEqual((await jira.send(key, makeWebhookBody("created"), { as: "owner" })).status, 200)
    const webhook = await insertInboundWebhook(pool, tenant, id)
    await send(service, "POST", `/integrations/${id}/inbound/${webhook}/replay`)
    await insertIssues(pool, tenant, id)
    const invoice = await invoiceClient(service, tenant).draft()
    const request = { integrationId: id, filter: {}, amountMinor: 100 }
    await send(service, "POST", `/invoices/${invoice.id}/billables/from-issues`, request, 201)
  }

  beforeAll(async () => {
    const service = recordingService()
    await changeContracting(service)
    await changeInvoices(service)
    await changePayments(service)
    await changeTaxRates(service)
    await changeImages(service)
    await changeIntegrations(service)
    await changeIssues(service)
    await changeMails(service)
    await send(service, "PATCH", `/tenants/${fixture().tenant}`, { description: "Described" })
    await send(service, "DELETE", `/tenants/${await service.newTenant()}`, undefined, 204)
    await service.api("POST", "/tenants", { as: "owner", body: { name: "Another" } })
  }, 120_000)

  it("are exactly those that each write records", () => {
    for (const { documented, name } of operations().filter(({ method }) => method !== "GET")) {
      assert.sameMembers([...(recorded.get(name) ?? assert.fail(`${name} was not called`))], documented, name)
    }
  })

  it("are recorded by the OAuth callback, the only GET with events", () => {
    const reads = operations().filter(({ documented, method }) => method === "GET" && documented.length > 0)
    assert.deepStrictEqual(
      reads.map(({ name }) => name),
      ["GET /api/v1/integrations/oauth/callback"]
    )
    for (const { documented, name } of reads) assert.sameMembers([...(recorded.get(name) ?? [])], documented)
  })
})
