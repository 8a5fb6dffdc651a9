import { createHash } from "node:crypto"
import { assert, describe, it } from "vitest"
import { assertFailure, assertUnavailable, notFoundText } from "../../support/assertions/failures.ts"
import { insertAuthorization, registerWebhookIds } from "../../support/fixtures/issueRows.ts"
import { makeWebhookBody } from "../../support/fixtures/jiraWebhookBody.ts"
import { assertAccepted, jiraSender, jiraSettings, webhookKeyOf } from "../../support/fixtures/jiraWebhooks.ts"
import { useFixture } from "../../support/fixtures/useFixture.ts"
import { freshDatabase, openPool } from "../../support/servers/database.ts"
import { startProxy } from "../../support/servers/proxy.ts"
import { startService } from "../../support/servers/service.ts"
import { startServiceWithTenant } from "../../support/servers/serviceWithPool.ts"

describe("Webhooks of Jira", () => {
  const fixture = useFixture(() => startServiceWithTenant(jiraSettings))
  const jira = () => jiraSender(fixture().service)
  const createAuthorized = async (...webhookIds: ReadonlyArray<number>) => {
    const integration = await jira().createIntegration(fixture().tenant)
    await insertAuthorization(fixture().pool, integration.id, ...(webhookIds.length === 0 ? [1007] : webhookIds))
    return integration
  }
  const rowsOf = async (integration: string) => {
    const { rows } = await fixture().pool.query(
      "select * from inbound_webhooks where integration_id = $1 order by id",
      [integration]
    )
    return rows
  }
  const transition = (id: string, action: string) =>
    fixture().service.api("POST", `/integrations/${id}/${action}`, { as: "owner", tenant: fixture().tenant })

  for (const kind of ["created", "updated", "deleted"] as const) {
    it(`about an issue that was ${kind} are stored with their exact body`, async () => {
      const { id, key } = await createAuthorized()
      const body = `${JSON.stringify(makeWebhookBody(kind), null, 1)}\n`
      assertAccepted(await jira().send(key, body, { identifier: "6f1c2b0e" }))
      const [row] = await rowsOf(id)
      assert.deepInclude(row, {
        tenant_id: fixture().tenant,
        identifier: "6f1c2b0e",
        kind: `jira:issue_${kind}`,
        issue_id: "24117",
        issue_key: "NORTH-318",
        happened_at: "1781253604120",
        status: "RECEIVED",
        body
      })
    })
  }

  it("have a URL that is returned once and stored nowhere in plain text", async () => {
    const { id, key, webhookUrl } = await jira().createIntegration(fixture().tenant)
    assert.match(webhookUrl, /^https:\/\/contracting\.example\/api\/v1\/webhooks\/[A-Za-z0-9_-]{43}$/)
    const read = await fixture().service.api("GET", `/integrations/${id}`, { as: "owner", tenant: fixture().tenant })
    assert.deepInclude(read.body.data, { status: "PENDING_AUTH", isAuthorized: false })
    assert.notInclude(read.text, "webhookUrl")
    const { rows } = await fixture().pool.query(
      "select key_hash, sealed from webhook_endpoints where integration_id = $1",
      [id]
    )
    assert.deepStrictEqual(rows[0].key_hash, createHash("sha256").update(key).digest())
    assert.notInclude(rows[0].sealed.toString("latin1"), key)
    const { rows: events } = await fixture().pool.query(
      "select data::text as data from events where resource_id = $1",
      [id]
    )
    assert.notInclude(events[0].data, key)
  })

  it("are accepted at the previous URL until its overlap ends", async () => {
    const { id, key } = await createAuthorized()
    const rotate = (overlapHours: number) =>
      fixture().service.api("POST", `/integrations/${id}/rotate-secret`, {
        as: "owner",
        tenant: fixture().tenant,
        body: { overlapHours }
      })
    const { body, status } = await rotate(1)
    assert.strictEqual(status, 200)
    const second = webhookKeyOf(body.data.webhookUrl)
    assert.notStrictEqual(second, key)
    assertAccepted(await jira().send(key, makeWebhookBody("updated")))
    assertAccepted(await jira().send(second, makeWebhookBody("updated")), false)
    await fixture().pool.query(
      "update webhook_endpoints set expires_at = now() where integration_id = $1 and expires_at > now()",
      [id]
    )
    assertFailure(await jira().send(key, makeWebhookBody("updated")), 404, notFoundText)
    const third = webhookKeyOf((await rotate(0)).body.data.webhookUrl)
    assertFailure(await jira().send(second, makeWebhookBody("updated")), 404, notFoundText)
    await registerWebhookIds(fixture().pool, id, id, 2001)
    assertAccepted(await jira().send(third, makeWebhookBody("updated", { webhookIds: [2001] })))
    const { rows } = await fixture().pool.query("select 1 from webhook_endpoints where integration_id = $1", [id])
    assert.lengthOf(rows, 2, "the expired endpoint is deleted")
  })

  it("are ignored before the authorization and for unregistered webhook ids", async () => {
    const pending = await jira().createIntegration(fixture().tenant)
    await registerWebhookIds(fixture().pool, pending.id, pending.id, 1007)
    assertAccepted(await jira().send(pending.key, makeWebhookBody("created")), false)
    const { id, key } = await createAuthorized(5, 6)
    for (const webhookIds of [[], [7], [1007, -5]]) {
      assertAccepted(await jira().send(key, makeWebhookBody("created", { webhookIds })), false)
    }
    assertAccepted(await jira().send(key, makeWebhookBody("created", { webhookIds: [7, 6, 6, 5] })))
    assert.lengthOf(await rowsOf(id), 1)
    assert.lengthOf(await rowsOf(pending.id), 0)
  })

  it("are accepted while the integration is PAUSED or in ERROR", async () => {
    const { id, key } = await createAuthorized()
    await transition(id, "pause")
    assertAccepted(await jira().send(key, makeWebhookBody("created")))
    await fixture().pool.query("update integrations set status = 'ERROR' where id = $1", [id])
    assertAccepted(await jira().send(key, makeWebhookBody("updated")))
    assert.lengthOf(await rowsOf(id), 2)
  })

  it("are stored for every integration that registered their id at the URL, in any tenant", async () => {
    const first = await createAuthorized(1)
    const otherTenant = await fixture().service.newTenant("neighbour")
    const second = await jira().createIntegration(otherTenant, "neighbour")
    const stranger = await jira().createIntegration(otherTenant, "neighbour")
    await fixture().pool.query("update integrations set status = 'ACTIVE', is_authorized = true where tenant_id = $1", [
      otherTenant
    ])
    await registerWebhookIds(fixture().pool, second.id, first.id, 2)
    await registerWebhookIds(fixture().pool, stranger.id, stranger.id, 1, 2)
    assertAccepted(await jira().send(first.key, makeWebhookBody("created", { webhookIds: [1, 2] })))
    assertAccepted(await jira().send(first.key, makeWebhookBody("updated", { webhookIds: [2] })))
    const counts = [first, second, stranger].map(async ({ id }) => (await rowsOf(id)).length)
    assert.deepStrictEqual(await Promise.all(counts), [1, 2, 0])
    await fixture().service.api("DELETE", `/tenants/${otherTenant}`, { as: "neighbour" })
    assertAccepted(await jira().send(first.key, makeWebhookBody("updated", { webhookIds: [2] })), false)
  })

  it("are accepted at a shared URL after the deletion of the tenant that owns the URL", async () => {
    const otherTenant = await fixture().service.newTenant("leaver")
    const owner = await jira().createIntegration(otherTenant, "leaver")
    await insertAuthorization(fixture().pool, owner.id, 11)
    const sharing = await jira().createIntegration(fixture().tenant)
    await insertAuthorization(fixture().pool, sharing.id, 12)
    await fixture().pool.query("delete from tracker_webhooks where integration_id = $1", [sharing.id])
    await registerWebhookIds(fixture().pool, sharing.id, owner.id, 12)
    await fixture().service.api("DELETE", `/tenants/${otherTenant}`, { as: "leaver" })
    assertAccepted(await jira().send(owner.key, makeWebhookBody("created", { webhookIds: [11, 12] })))
    assertAccepted(await jira().send(owner.key, makeWebhookBody("created", { webhookIds: [11] })), false)
    assert.lengthOf(await rowsOf(sharing.id), 1)
    assert.lengthOf(await rowsOf(owner.id), 0)
    const tenant = await fixture().service.newTenant("last")
    const last = await jira().createIntegration(tenant, "last")
    await insertAuthorization(fixture().pool, last.id, 13)
    await fixture().service.api("DELETE", `/tenants/${tenant}`, { as: "last" })
    assertFailure(await jira().send(last.key, makeWebhookBody("created", { webhookIds: [13] })), 404, notFoundText)
    await fixture().service.api("DELETE", `/integrations/${sharing.id}`, { as: "owner", tenant: fixture().tenant })
    assertFailure(await jira().send(owner.key, makeWebhookBody("created", { webhookIds: [12] })), 404, notFoundText)
  })

  it("are stored once per identifier, also under concurrent requests", async () => {
    const { id, key } = await createAuthorized()
    const other = await createAuthorized()
    const body = makeWebhookBody("created")
    const responses = await Promise.all(
      Array.from({ length: 20 }, () => jira().send(key, body, { identifier: "the-same" }))
    )
    for (const response of [...responses, await jira().send(key, body, { identifier: "the-same" })]) {
      assertAccepted(response)
    }
    assertAccepted(await jira().send(other.key, body, { identifier: "the-same" }))
    assert.lengthOf(await rowsOf(id), 1)
    assert.lengthOf(await rowsOf(other.id), 1)
  })

  it("can have 5 MiB and an identifier of 5000 characters", async () => {
    const { id, key } = await createAuthorized()
    const maxBytes = 5 * 1024 * 1024
    const bodyOfSize = (size: number) => {
      const empty = JSON.stringify({ ...makeWebhookBody("updated"), filler: "" })
      return JSON.stringify({ ...makeWebhookBody("updated"), filler: "x".repeat(size - empty.length) })
    }
    const identifier = "i".repeat(5000)
    assertAccepted(await jira().send(key, bodyOfSize(maxBytes), { identifier }))
    assertAccepted(await jira().send(key, bodyOfSize(maxBytes), { identifier }))
    const rows = await rowsOf(id)
    assert.lengthOf(rows, 1)
    assert.strictEqual(rows[0].body.length, maxBytes)
    assert.strictEqual((await jira().send(key, bodyOfSize(maxBytes + 1))).status, 413)
  })

  it("can contain any values in unknown fields", async () => {
    const { id, key } = await createAuthorized()
    const body = {
      ...makeWebhookBody("updated"),
      changelog: { items: [{ toString: "a", constructor: 1, from: "\u0000 \ud800" }] },
      nested: { timestamp: "no", issue: null }
    }
    assertAccepted(await jira().send(key, JSON.stringify(body).replace("nested", "__proto__")))
    const [row] = await rowsOf(id)
    assert.include(row.body, "\\u0000 \\ud800")
    assert.include(row.body, "__proto__")
  })
})

describe("A webhook of Jira", () => {
  it("gets 503 while the database fails, so that Jira sends it again", { timeout: 60_000 }, async () => {
    const database = await freshDatabase()
    const proxy = await startProxy(database.url)
    const service = await startService({ ...jiraSettings, DATABASE_URL: proxy.url })
    const pool = openPool(database.url)
    const jira = jiraSender(service)
    const tenant = await service.newTenant()
    const { id, key } = await jira.createIntegration(tenant)
    await insertAuthorization(pool, id, 1007)
    await proxy.disconnect()
    assertUnavailable(await jira.send(key, makeWebhookBody("created"), { identifier: "once" }))
    await proxy.restore()
    assertAccepted(await jira.send(key, makeWebhookBody("created"), { identifier: "once" }))

    // Another internal error: a missing table.
    await pool.query("alter table inbound_webhooks rename to elsewhere")
    assertUnavailable(await jira.send(key, makeWebhookBody("updated"), { identifier: "twice" }))
    await pool.query("alter table elsewhere rename to inbound_webhooks")
    assertAccepted(await jira.send(key, makeWebhookBody("updated"), { identifier: "twice" }))
    const { rows } = await pool.query("select identifier from inbound_webhooks order by id")
    assert.deepStrictEqual(rows, [{ identifier: "once" }, { identifier: "twice" }])
    await pool.end()
    await service.stop()
    await proxy.stop()
    await database.drop()
  })
})
