import { afterAll, afterEach, assert, beforeAll, describe, it } from "vitest"
import { mailConfig, makeMailFixture } from "../../support/fixtures/mails.ts"
import { openPool } from "../../support/servers/database.ts"
import { type MailServer, startMailServer } from "../../support/servers/mailServer.ts"
import { type Service, startService } from "../../support/servers/service.ts"
import { eventually, type RunningWorker, startWorker } from "../../support/servers/worker.ts"

const answer = (responseCode: number, message: string) => Object.assign(new Error(message), { responseCode })

describe("An EMAIL integration", () => {
  let service: Service
  let server: MailServer
  let sql: ReturnType<typeof openPool>
  let running: ReadonlyArray<RunningWorker>
  /** The answer to a recipient, if it is not accepted. */
  let refuse: (recipient: string) => Error | null = () => null
  beforeAll(async () => {
    server = await startMailServer({
      hideSTARTTLS: true,
      onAuth: ({ password, username }, _, done) =>
        username === "books" && password === "secret"
          ? done(null, { user: username })
          : done(answer(535, "wrong password")),
      onRcptTo: ({ address }, _, done) => done(refuse(address))
    })
    service = await startService({ SMTP_URL: `smtp://127.0.0.1:${server.port}`, SMTP_FROM: "operator@service.example" })
    sql = openPool(service.database.url)
    running = [await startWorker(service, "relay"), await startWorker(service, "delivery")]
  })
  afterAll(async () => {
    await Promise.all(running.map(({ stop }) => stop()))
    await sql.end()
    await service.stop()
    await server.stop()
  })
  afterEach(() => {
    refuse = () => null
  })

  const makeFixture = (config?: object) => makeMailFixture(service, server.port, config)
  const receivedBy = (recipient: string) => server.mails.filter(({ to }) => to === recipient)
  const unique = (name: string) => `${name}.${Math.random().toString(36).slice(2)}@client.example`
  const makeDue = (tenant: string) =>
    sql.query(
      "update deliveries set next_attempt_at = now() where tenant_id = $1 and status = 'PENDING' and lease is null",
      [tenant]
    )

  it("sends an invoice on request to the given recipients, with its PDF, in the language of the client", async () => {
    const { events, invoicing, issue, send, waitFor } = await makeFixture()
    const [to, cc] = [unique("ada"), unique("bob")]
    const invoice = await issue()
    const requested = await send(invoice, { to: [to, to.toUpperCase()], cc: [cc] })
    assert.deepStrictEqual(requested.map(({ recipient }) => recipient).sort(), [to, cc].sort())
    const mails = await waitFor(invoice, "DELIVERED")
    const { body } = await invoicing.call("GET", `/invoices/${invoice}`)
    const [mail] = receivedBy(to)
    const messageId = mails.find(({ recipient }) => recipient === to)?.messageId ?? ""
    assert.include(mail?.source, `Subject: Rechnung ${body.data.invoiceNumber}`)
    assert.include(mail?.source, `filename=${body.data.invoiceNumber}.pdf`)
    assert.include(mail?.source, "Content-Language: de")
    assert.include(mail?.source, messageId)
    assert.match(mail?.source ?? "", new RegExp(`To: ${to}`, "i"))
    assert.match(mail?.source ?? "", new RegExp(`Cc: ${cc}`, "i"))
    assert.strictEqual(mail?.from, "books@seller.example")
    assert.lengthOf(receivedBy(cc), 1)
    assert.deepStrictEqual(
      (await events("invoice.sent", 2)).map(({ data }) => data["recipient"]).sort(),
      [to, cc].sort()
    )
    assert.lengthOf(await events("invoice.send_requested"), 1)
  })

  it("sends finalized invoices by itself to the contacts that receive invoices", async () => {
    const fixture = await makeFixture()
    const [ada, bob, eve] = [unique("ada"), unique("bob"), unique("eve")]
    await fixture.addContact(ada, true)
    await fixture.addContact(bob, true)
    await fixture.addContact(ada.toUpperCase(), true)
    await fixture.addContact(eve, false)
    await fixture.integrations.mustSubscribe(fixture.integration.id, { eventType: "invoice.finalized" })
    const mails = await fixture.waitFor(await fixture.issue(), "DELIVERED")
    assert.deepStrictEqual(mails.map(({ recipient }) => recipient.toLowerCase()).sort(), [ada, bob].sort())
    assert.deepStrictEqual([receivedBy(bob).length, receivedBy(eve).length], [1, 0])
  })

  it("ends a delivery that the server refuses, with the reason, and does not fail for others", async () => {
    const { events, integration, integrations, issue, send, waitFor } = await makeFixture()
    refuse = () => answer(550, "unknown mailbox")
    const invoice = await issue()
    await send(invoice, { to: [unique("gone")] })
    const [mail] = await waitFor(invoice, "EXHAUSTED")
    assert.include(mail?.error, "550 unknown mailbox")
    const [event] = await events("invoice.bounced")
    assert.include(event?.data["reason"], "550 unknown mailbox")
    const { body } = await integrations.get(integration.id)
    assert.strictEqual(body.data.status, "ACTIVE")
    const { rows } = await sql.query("select failing_since from integrations where id = $1", [integration.id])
    assert.isNull(rows[0]?.failing_since)
  })

  it("retries after a temporary refusal, and sends once", async () => {
    const { issue, mails, send, tenant, waitFor } = await makeFixture()
    const to = unique("ada")
    refuse = () => answer(451, "greylisted")
    const invoice = await issue()
    await send(invoice, { to: [to] })
    await eventually(
      async () => (await mails(invoice))[0]?.error?.includes("greylisted") === true,
      "one attempt failed"
    )
    refuse = () => null
    await makeDue(tenant)
    await waitFor(invoice, "DELIVERED")
    assert.lengthOf(receivedBy(to), 1)
  })

  it("sends what is requested of it, beside others of the tenant", async () => {
    const { integration, integrations, issue, send, trySend } = await makeFixture()
    const other = await integrations.mustCreate({ provider: "EMAIL", name: "Other", config: mailConfig(server.port) })
    const [invoice, to] = [await issue(), [unique("ada")]]
    for (const { id } of [integration, other]) {
      const [mail] = await send(invoice, { to, integrationId: id })
      assert.strictEqual(mail?.integration, id)
    }
    const { body } = await trySend(invoice, { to })
    assert.deepInclude(body.details?.[0], { field: "integrationId", constraint: "required" })
  })

  it("keeps mails while it is paused, and sends them after it is resumed", async () => {
    const { integration, integrations, issue, send, waitFor } = await makeFixture()
    const to = unique("ada")
    await integrations.transition(integration.id, "pause")
    const invoice = await issue()
    await send(invoice, { to: [to] })
    assert.lengthOf(receivedBy(to), 0)
    await integrations.transition(integration.id, "resume")
    await waitFor(invoice, "DELIVERED")
    assert.lengthOf(receivedBy(to), 1)
  })

  it("sends a mail again when it is redelivered, with the same Message-ID and no second event", async () => {
    const { integration, integrations, issue, send, tenant, waitFor } = await makeFixture()
    const to = unique("ada")
    const invoice = await issue()
    const [delivery] = await send(invoice, { to: [to] })
    const [first] = await waitFor(invoice, "DELIVERED")
    const { status } = await integrations.call("POST", `/${integration.id}/deliveries/${delivery?.id}/redeliver`)
    assert.strictEqual(status, 200)
    await eventually(() => receivedBy(to).length === 2, "the mail is sent again")
    const [second] = await waitFor(invoice, "DELIVERED")
    assert.strictEqual(second?.messageId, first?.messageId)
    const events = await sql.query("select 1 from events where tenant_id = $1 and type = 'invoice.sent'", [tenant])
    assert.lengthOf(events.rows, 1)
  })

  it("does not send a mail again whose worker stopped at its end, and sends the next one to the recipient", async () => {
    const { events, integration, integrations, issue, mails, send, tenant, waitFor } = await makeFixture()
    const to = unique("ada")
    await integrations.transition(integration.id, "pause")
    const invoice = await issue()
    const [lost] = await send(invoice, { to: [to] })
    const [next] = await send(invoice, { to: [to], subject: "Second" })
    assert.deepStrictEqual([lost?.status, next?.status], ["PENDING", "WAITING"])
    await sql.query(
      `insert into invoice_mails (tenant_id, delivery_id, round, integration_id, event_id, invoice_id, recipient,
         message_id, is_shared, data_started_at)
       select tenant_id, id, 0, integration_id, event_id, resource_id, recipient, '<1@a>', false, now() from deliveries
       where id = $1`,
      [lost?.id]
    )
    await sql.query("update deliveries set lease = 'lease_dead', leased_until = now() where id = $1", [lost?.id])
    await integrations.transition(integration.id, "resume")
    await eventually(
      async () => (await mails(invoice)).every(({ status }) => status === "UNCERTAIN" || status === "DELIVERED"),
      "both are finished"
    )
    assert.deepStrictEqual(
      (await mails(invoice)).map(({ status }) => status),
      ["UNCERTAIN", "DELIVERED"]
    )
    assert.match(receivedBy(to)[0]?.source ?? "", /Subject: Second/)
    assert.lengthOf(receivedBy(to), 1)
    const { body } = await integrations.call("GET", `/${integration.id}/deliveries/${lost?.id}`)
    assert.deepStrictEqual(
      body.data.attemptLog.map(({ outcome }: { outcome: string }) => outcome),
      ["LOST"]
    )
    await integrations.call("POST", `/${integration.id}/deliveries/${lost?.id}/redeliver`)
    await waitFor(invoice, "DELIVERED")
    assert.lengthOf(receivedBy(to), 2)
    assert.lengthOf(await events("invoice.sent", 2), 2)
    assert.isTrue((await sql.query("select 1 from invoice_mails where tenant_id = $1", [tenant])).rows.length === 3)
  })

  it("sends credit notes", async () => {
    const { events, invoicing, issue, send, waitFor } = await makeFixture()
    const to = unique("ada")
    const created = await invoicing.call("POST", "/credit-notes", {
      invoiceId: await issue(),
      reason: "Returned",
      full: true
    })
    const note = created.body.data.id
    await invoicing.call("POST", `/credit-notes/${note}/finalize`)
    await send(note, { to: [to], message: "Hello {client}:\n{link}\n{total}" }, "credit-notes")
    await waitFor(note, "DELIVERED", "credit-notes")
    assert.match(receivedBy(to)[0]?.source ?? "", /Subject: Rechnungskorrektur CN-/)
    assert.lengthOf(await events("credit_note.sent"), 1)
  })

  it("authenticates with its password, and stops when the server rejects it", async () => {
    const config = { ...mailConfig(server.port), user: "books" }
    const fixture = await makeFixture({})
    const { integration, integrations, issue, mails, send, waitFor } = fixture
    const missing = await integrations.patch(integration.id, { config })
    assert.deepInclude(missing.body.details[0], { field: "password", constraint: "required" })
    const saved = await integrations.patch(integration.id, { config, password: "wrong" })
    assert.strictEqual(saved.status, 200, saved.text)
    assert.notInclude(saved.text, "wrong")
    const invoice = await issue()
    const to = unique("ada")
    await send(invoice, { to: [to] })
    await eventually(async () => (await integrations.get(integration.id)).body.data.status === "ERROR", "it is stopped")
    assert.strictEqual((await mails(invoice))[0]?.status, "PENDING")
    await integrations.patch(integration.id, { password: "secret" })
    await integrations.transition(integration.id, "resume")
    await waitFor(invoice, "DELIVERED")
    assert.lengthOf(receivedBy(to), 1)
  })

  it("without a server of its own sends only to contacts of the client, from the operator", async () => {
    const fixture = await makeFixture({})
    const [to, ofAnotherClient, ofAnotherTenant] = [unique("ada"), unique("eve"), unique("mallory")]
    await fixture.addContact(ofAnotherClient, true, await fixture.addClient())
    await (await makeFixture({})).addContact(ofAnotherTenant, true)
    const invoice = await fixture.issue()
    const none = await fixture.trySend(invoice)
    assert.deepInclude(none.body.details?.[0], { field: "to", constraint: "required" })
    await fixture.addContact(to, true)
    for (const stranger of [unique("eve"), ofAnotherClient, ofAnotherTenant]) {
      const { body } = await fixture.trySend(invoice, { to: [to], cc: [stranger] })
      assert.deepInclude(body.details?.[0], { field: "cc", constraint: "exists" })
    }
    const requested = await fixture.send(invoice)
    assert.deepStrictEqual(
      requested.map(({ recipient }) => recipient),
      [to]
    )
    await fixture.waitFor(invoice, "DELIVERED")
    assert.strictEqual(receivedBy(to)[0]?.from, "operator@service.example")
  })

  it("without a server of its own names the operator beside the tenant, who cannot name another one", async () => {
    const nameSender = async (config?: object) => {
      const fixture = await makeFixture(config)
      const name = 'PayPal Security via PayPal <safe@paypal.example>\r\nBcc: "all"'
      const { status, text } = await fixture.invoicing.call("PATCH", `/tenants/${fixture.tenant}`, { name })
      assert.strictEqual(status, 200, text)
      const to = unique("ada")
      await fixture.addContact(to, true)
      const invoice = await fixture.issue()
      await fixture.send(invoice)
      await fixture.waitFor(invoice, "DELIVERED")
      return /^From: (.*(?:\r\n .*)*)/m.exec(receivedBy(to)[0]?.source ?? "")?.[1]?.replace(/\r\n /g, " ")
    }
    const shown = '"PayPal Security PayPal safe@paypal.example Bcc: all via service.example" <operator@service.example>'
    assert.strictEqual(await nameSender({}), shown)
    const own = (await nameSender()) ?? ""
    assert.match(own, /PayPal_Security_via_PayPal.* <books@seller\.example>$/)
    assert.notInclude(own, "service.example")
  })

  it("keeps what was sent with the invoice when the deliveries are deleted, and prevents its void", async () => {
    const { invoicing, issue, mails, send, tenant, waitFor } = await makeFixture()
    const to = unique("ada")
    const invoice = await issue()
    await send(invoice, { to: [to] })
    await waitFor(invoice, "DELIVERED")
    await sql.query("delete from deliveries where tenant_id = $1", [tenant])
    const [mail] = await mails(invoice)
    assert.deepInclude(mail, { recipient: to, status: "DELIVERED" })
    const voided = await invoicing.tryTransition(invoice, "void")
    assert.strictEqual(voided.status, 400)
    assert.include(voided.body.details[0].message, `it was sent to ${to} at `)
  })

  it("sends the events of a paid invoice too", async () => {
    const { events, invoicing, issue, send, waitFor } = await makeFixture()
    const invoice = await issue()
    await invoicing.transition(invoice, "pay")
    await send(invoice, { to: [unique("ada")] })
    await waitFor(invoice, "DELIVERED")
    assert.lengthOf(await events("invoice.sent"), 1)
  })

  it("does not send an invoice that was voided meanwhile", async () => {
    const { integration, integrations, invoicing, issue, send, waitFor } = await makeFixture()
    const to = unique("ada")
    await integrations.transition(integration.id, "pause")
    const invoice = await issue()
    await send(invoice, { to: [to] })
    await invoicing.transition(invoice, "void")
    await integrations.transition(integration.id, "resume")
    const [mail] = await waitFor(invoice, "EXHAUSTED")
    assert.include(mail?.error, "VOID")
    assert.lengthOf(receivedBy(to), 0)
  })
})
