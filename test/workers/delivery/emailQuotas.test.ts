import { afterAll, assert, beforeAll, describe, it } from "vitest"
import { makeMailFixture } from "../../support/fixtures/mails.ts"
import { type MailServer, startMailServer } from "../../support/servers/mailServer.ts"
import { type Service, startService } from "../../support/servers/service.ts"
import { eventually, type RunningWorker, startWorker } from "../../support/servers/worker.ts"

describe("The quotas of mails through the mail server of the operator", () => {
  let service: Service
  let server: MailServer
  let running: ReadonlyArray<RunningWorker>
  beforeAll(async () => {
    server = await startMailServer({ hideSTARTTLS: true })
    service = await startService({
      SMTP_URL: `smtp://127.0.0.1:${server.port}`,
      SMTP_FROM: "operator@service.example",
      MAX_TENANT_MAILS: "2",
      MAX_CALLER_MAILS: "3"
    })
    running = [await startWorker(service, "relay"), await startWorker(service, "delivery")]
  })
  afterAll(async () => {
    await Promise.all(running.map(({ stop }) => stop()))
    await service.stop()
    await server.stop()
  })

  const usedOf = async (tenant: string, name: string) => {
    const { body } = await service.api("GET", "/limits", { as: "owner", tenant })
    return body.data.find((limit: { name: string }) => limit.name === name)
  }

  it("reject requests beyond the maximum, and delay mails that are sent without a request", async () => {
    const fixture = await makeMailFixture(service, server.port, {})
    for (const name of ["ada", "bob", "eve"]) await fixture.addContact(`${name}@client.example`, true)
    const invoice = await fixture.issue()
    const all = await fixture.trySend(invoice)
    assert.deepInclude(all.body.details[0], { field: "to", constraint: "quota" })
    await fixture.send(invoice, { to: ["ada@client.example", "bob@client.example"] })
    await fixture.waitFor(invoice, "DELIVERED")
    assert.deepInclude(await usedOf(fixture.tenant, "tenantMails"), { max: 2, used: 2, scope: "tenant" })
    assert.deepInclude(await usedOf(fixture.tenant, "callerMails"), { max: 3, used: 2, scope: "caller" })
    await fixture.integrations.mustSubscribe(fixture.integration.id, { eventType: "invoice.finalized" })
    const automatic = await fixture.issue()
    await eventually(
      async () => (await fixture.mails(automatic)).filter(({ error }) => error?.includes("quota")).length > 0,
      "a mail waits for the quota"
    )
    assert.lengthOf(server.mails, 2)
    const other = await makeMailFixture(service, server.port, {})
    await other.addContact("ada@other.example", true)
    await other.addContact("bob@other.example", true)
    const beyond = await other.trySend(await other.issue())
    assert.include(beyond.body.details[0].message, "callerMails")
  })
})
