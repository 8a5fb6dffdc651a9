import { Effect, Layer } from "effect"
import type pg from "pg"
import { afterAll, assert, beforeAll, describe, it } from "vitest"
import { eventTypes } from "../../../src/domain/events/EventCatalogue.ts"
import { TenantId } from "../../../src/domain/tenancy/Tenant.ts"
import { Settings } from "../../../src/layers/infra/config/Settings.ts"
import { SqlLive } from "../../../src/layers/infra/postgres/connection/PostgresClient.ts"
import { Integrations } from "../../../src/layers/integrations/Integrations.ts"
import { makeEventCheck } from "../../support/assertions/eventSchemas.ts"
import { assetClient } from "../../support/fixtures/assets.ts"
import { assignFeedPositions } from "../../support/fixtures/integrationRows.ts"
import { integrationClient } from "../../support/fixtures/integrations.ts"
import { invoiceClient } from "../../support/fixtures/invoices.ts"
import { insertAuthorization } from "../../support/fixtures/issueRows.ts"
import { makeWebhookBody, type WebhookKind } from "../../support/fixtures/jiraWebhookBody.ts"
import { assertAccepted, jiraSender, jiraSettings } from "../../support/fixtures/jiraWebhooks.ts"
import { mailConfig } from "../../support/fixtures/mails.ts"
import { readPages } from "../../support/fixtures/pages.ts"
import { startPayer } from "../../support/fixtures/payments.ts"
import { kindsInTenants, resourceMaker } from "../../support/fixtures/resources.ts"
import { openPool } from "../../support/servers/database.ts"
import { startMailServer } from "../../support/servers/mailServer.ts"
import { type Service, startService } from "../../support/servers/service.ts"
import { eventually, startWorker } from "../../support/servers/worker.ts"

describe("Events of every resource lifecycle", () => {
  let service: Service
  let pool: pg.Pool
  let tenant: string
  let listed: ReadonlyArray<{ readonly id: string; readonly type: string; readonly data: object }>
  beforeAll(async () => {
    service = await startService(jiraSettings)
    pool = openPool(service.database.url)
    tenant = await service.newTenant()
    await recordCrudEvents()
    await recordMemberEvents()
    await recordInvoiceEvents()
    await recordPaymentEvents()
    await recordTaxRateEvents()
    await recordAssetEvents()
    await recordIntegrationEvents()
    await recordIssueEvents()
    await recordMailEvents()
    await send("PATCH", `/tenants/${tenant}`, 200, { description: "Described" })
    await assignFeedPositions(pool, tenant)
    const pages = await readPages(service, "/events?limit=200", { as: "owner", tenant })
    listed = pages.flat() as unknown as typeof listed // the conformance check validates the pages
    await send("DELETE", `/tenants/${tenant}`, 204)
  })
  afterAll(async () => {
    await pool.end()
    await service.stop()
  })

  const send = async (method: string, path: string, expected: number, body?: unknown) => {
    const response = await service.api(method, path, { as: "owner", tenant, ...(body === undefined ? {} : { body }) })
    assert.strictEqual(response.status, expected, `${method} ${path}: ${response.text}`)
    return response.body?.data
  }

  const recordCrudEvents = async () => {
    for (const kind of kindsInTenants) {
      const { id } = await resourceMaker(service, tenant).make(kind)
      await send("PATCH", `/${kind}/${id}`, 200, { order: 3 })
      await send("DELETE", `/${kind}/${id}`, 204)
    }
  }

  const recordMemberEvents = async () => {
    const { id } = await send("POST", "/members", 201, { subject: "somebody", role: "VIEWER" })
    await send("PATCH", `/members/${id}`, 200, { role: "MEMBER" })
    await send("DELETE", `/members/${id}`, 204)
  }

  const recordInvoiceEvents = async () => {
    const invoices = invoiceClient(service, tenant)
    await invoices.invoiceIn("PAID")
    await send("PATCH", "/invoice-series", 200, { pattern: "N-{seq}" })
    await invoices.invoiceIn("VOID", {}, { referenceType: "issue", referenceId: "A-1", metadata: { a: "b" } })
    const { id, line } = await invoices.invoiceIn("DRAFT")
    await send("PATCH", `/billables/${line}`, 200, { quantity: 1.5 })
    await send("DELETE", `/billables/${line}`, 204)
    await send("DELETE", `/invoices/${id}`, 204)
  }

  const recordPaymentEvents = async () => {
    const payer = await startPayer(service, tenant)
    const { id } = await payer.newInvoice(100)
    const payment = await payer.pay(110, [[id, 10]])
    await payer.act(`/payments/${payment.id}/allocate`, { invoiceId: id, amountMinor: 90 })
    await payer.act(`/payments/${payment.id}/reverse`, { reason: "Returned" })
    const refunded = await payer.pay(10)
    await payer.act(`/payments/${refunded.id}/refund`, { amountMinor: 10 })
    await payer.act(`/invoices/${id}/write-off`, { reason: "Goodwill" })
    const note = await payer.draftNote(id)
    await send("PATCH", `/credit-notes/${note.id}`, 200, { reason: "Another" })
    await send("DELETE", `/credit-notes/${note.id}`, 204)
    const { id: credited } = await payer.draftNote(id)
    await payer.finalizeNote(credited)
    const open = await payer.newInvoice(5)
    await payer.act(`/credit-notes/${credited}/allocate`, { invoiceId: open.id, amountMinor: 5 })
    await payer.act(`/credit-notes/${credited}/refund`, { amountMinor: 5 })
    await send("PATCH", "/credit-note-series", 200, { pattern: "CN-{seq}" })
  }

  const recordTaxRateEvents = async () => {
    const { id } = await send("POST", "/tax-rates", 201, { name: "Tax", percent: 1 })
    await send("PATCH", `/tax-rates/${id}`, 200, { order: 1 })
    await send("POST", `/tax-rates/${id}/archive`, 200)
  }

  const recordAssetEvents = async () => {
    const assets = assetClient(service, tenant)
    const failed = await assets.upload(Buffer.from("no image"))
    assert.strictEqual((await assets.complete(failed.assetId)).status, 400)
    await send("DELETE", `/assets/${failed.assetId}`, 204)
    const { assetId } = await assets.createReady({ access: "SIGNED", originalFileName: "logo.png" })
    await send("PUT", `/tenants/${tenant}/media/logo`, 200, { assetId })
    const client = await resourceMaker(service, tenant).make("clients")
    await send("PUT", `/clients/${client.id}/media/logo`, 200, { assetId: (await assets.createReady()).assetId })
    await send("DELETE", `/clients/${client.id}/media/logo`, 204)
  }

  const recordIntegrationEvents = async () => {
    const integrations = integrationClient(service, tenant)
    const { id } = await integrations.mustCreate()
    await integrations.mustSubscribe(id, { eventType: "integration.*" })
    await send("POST", `/integrations/${id}/ping`, 200)
    await send("POST", `/integrations/${id}/pause`, 200)
    await send("POST", `/integrations/${id}/resume`, 200)
    await Effect.flatMap(Integrations, (integrations) =>
      integrations.fail(TenantId.make(tenant), id, "Nothing but failures for 72 hours")
    ).pipe(
      Effect.provide(Integrations.Default.pipe(Layer.provideMerge(SqlLive))),
      Effect.provideService(Settings, service.settings),
      Effect.runPromise
    )
    await send("DELETE", `/integrations/${id}`, 204)
  }

  /**
   * Sends an invoice and a credit note by mail to a recipient that the server accepts, and to one that it refuses, and
   * opens the page of the invoice.
   */
  const recordMailEvents = async () => {
    const mailServer = await startMailServer({
      hideSTARTTLS: true,
      onRcptTo: ({ address }, _, done) => done(address.startsWith("bad") ? new Error("unknown") : null)
    })
    const worker = await startWorker(service, "delivery")
    const payer = await startPayer(service, tenant)
    await integrationClient(service, tenant).mustCreate({
      provider: "EMAIL",
      name: "Mail",
      config: mailConfig(mailServer.port)
    })
    const invoice = await payer.newInvoice(9)
    const note = await payer.finalizeNote((await payer.draftNote(invoice.id)).id)
    for (const path of [`/invoices/${invoice.id}`, `/credit-notes/${note.id}`]) {
      await send("POST", `${path}/send`, 202, { to: ["good@client.example", "bad@client.example"] })
      await eventually(async () => {
        const mails: ReadonlyArray<{ status: string }> = await send("GET", `${path}/deliveries`, 200)
        return mails.every(({ status }) => status === "DELIVERED" || status === "EXHAUSTED")
      }, "the mails are finished")
    }
    const { url } = await send("GET", `/invoices/${invoice.id}/link`, 200)
    assert.strictEqual((await service.call("GET", new URL(url).pathname)).status, 200)
    await send("POST", `/invoices/${invoice.id}/link/rotate`, 200)
    await send("DELETE", `/invoices/${invoice.id}/link`, 204)
    await worker.stop()
    await mailServer.stop()
  }

  /** Creates, bills, updates and deletes an issue. */
  const recordIssueEvents = async () => {
    const { id, key } = await jiraSender(service).createIntegration(tenant)
    await insertAuthorization(pool, id, 1007)
    const worker = await startWorker(service, "intake")
    const sendWebhook = async (kind: WebhookKind, timestamp: number, title: string) => {
      assertAccepted(await jiraSender(service).send(key, makeWebhookBody(kind, { timestamp, title })))
      await eventually(
        async () => (await send("GET", `/integrations/${id}/inbound?status=RECEIVED`, 200)).length === 0,
        "the webhook is processed"
      )
    }
    await sendWebhook("created", 1, "One")
    const invoice = await invoiceClient(service, tenant).draft()
    const request = { integrationId: id, filter: {}, amountMinor: 100 }
    await send("POST", `/invoices/${invoice.id}/billables/from-issues`, 201, request)
    await sendWebhook("updated", 2, "Two")
    await sendWebhook("deleted", 3, "Two")
    await worker.stop()
  }

  /** All recorded events in the format of the API. */
  const readEvents = async () => {
    const { rows } = await pool.query(
      `select id, type, occurred_at as timestamp, tenant_id as tenant, client_id as client, sequence,
         created_by as "createdBy", data
       from events order by id`
    )
    return rows.map(({ client, createdBy, timestamp, ...event }) => ({
      ...event,
      timestamp: timestamp.toISOString(),
      ...(client === null ? {} : { client }),
      ...(createdBy === null ? {} : { createdBy })
    }))
  }

  it("have exactly the types of the event catalogue", async () => {
    const types = (await readEvents()).map(({ type }) => type)
    assert.sameMembers(
      [...new Set(types)],
      eventTypes.map(({ type }) => type)
    )
  })

  it("conform to the schema of their type in the OpenAPI document", async () => {
    const check = makeEventCheck(service.document)
    const events = await readEvents()
    for (const event of events) check(event)
    assert.throws(() => check({ ...events[0], sequence: 0 }))
    assert.throws(() => check({ ...events[0], data: {} }))
  })

  it("are listed by GET /events as recorded", async () => {
    const events = await readEvents()
    assert.sameDeepMembers(
      [...listed],
      events.filter(({ type }) => type !== "tenant.deleted")
    )
  })
})
