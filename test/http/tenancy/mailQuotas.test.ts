import { afterAll, assert, beforeAll, describe, it } from "vitest"
import { assertValidationError, quotaError } from "../../support/assertions/failures.ts"
import { type MailFixture, makeMailFixture } from "../../support/fixtures/mails.ts"
import { quotaSettings } from "../../support/fixtures/quotas.ts"
import { openPool } from "../../support/servers/database.ts"
import { type Service, startService } from "../../support/servers/service.ts"

const maxima = { tenantMails: 3, callerMails: 5 }
const address = "ada@client.example"

describe("Requests to send mails through the mail server of the operator", () => {
  let service: Service
  let sql: ReturnType<typeof openPool>
  beforeAll(async () => {
    const settings = { SMTP_URL: "smtp://127.0.0.1:9", SMTP_FROM: "operator@service.example" }
    service = await startService({ ...settings, ...quotaSettings(maxima) })
    sql = openPool(service.database.url)
  })
  afterAll(async () => {
    await sql.end()
    await service.stop()
  })

  const makeFixture = async (config: object = {}) => {
    const fixture = await makeMailFixture(service, 9, config)
    await fixture.addContact(address, true)
    return fixture
  }
  /** Requests a mail of several invoices each at once; no worker sends them. */
  const sendAll = async ({ issue, trySend }: MailFixture, count: number) => {
    const invoices = await Promise.all(Array.from({ length: count }, issue))
    const responses = await Promise.all(invoices.map((invoice) => trySend(invoice)))
    return {
      accepted: responses.filter(({ status }) => status === 202),
      rejected: responses.filter(({ status }) => status !== 202)
    }
  }
  const readUsed = async (tenant: string) => {
    const { body } = await service.api("GET", "/limits", { as: "owner", tenant })
    return Object.fromEntries(
      body.data
        .filter(({ name }: { name: string }) => name in maxima)
        .map(({ name, used }: { name: string; used: number }) => [name, used])
    )
  }

  it("are accepted up to the quotas of tenant and caller, with those that are queued, also at the same time", async () => {
    const own = await makeFixture({ host: "127.0.0.1", port: 9, security: "STARTTLS", from: "books@seller.example" })
    assert.lengthOf((await sendAll(own, 4)).accepted, 4)
    const first = await makeFixture()
    const { accepted, rejected } = await sendAll(first, 8)
    assert.lengthOf(accepted, 3, rejected[0]?.text)
    for (const one of rejected) assertValidationError(one, quotaError("tenantMails", 3, "to"))
    assert.deepStrictEqual(await readUsed(first.tenant), { tenantMails: 3, callerMails: 3 })

    const second = await makeFixture()
    const others = await sendAll(second, 6)
    assert.lengthOf(others.accepted, 2, others.rejected[0]?.text)
    for (const one of others.rejected) assertValidationError(one, quotaError("callerMails", 5, "to"))
    assert.deepStrictEqual(await readUsed(second.tenant), { tenantMails: 2, callerMails: 5 })

    const delivery = accepted[0]?.body.data[0].id
    await sql.query(
      `insert into invoice_mails (tenant_id, delivery_id, round, integration_id, event_id, invoice_id, recipient,
         message_id, is_shared, requested_by, data_started_at, outcome)
       select tenant_id, id, 0, integration_id, event_id, resource_id, recipient, '<1@a>', true, 'owner', now(), 'RETRY'
       from deliveries where id = $1`,
      [delivery]
    )
    assert.deepStrictEqual(await readUsed(first.tenant), { tenantMails: 3, callerMails: 5 })
    await sql.query("update invoice_mails set data_started_at = now() - interval '2 days'")
    await sql.query("update deliveries set status = 'EXHAUSTED' where id = $1", [delivery])
    assert.deepStrictEqual(await readUsed(first.tenant), { tenantMails: 2, callerMails: 4 })
    assert.lengthOf((await sendAll(first, 2)).accepted, 1)
  })
})
