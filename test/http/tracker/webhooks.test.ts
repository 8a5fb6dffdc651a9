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

describe("webhooks of a tracker", () => {
  const at = useFixture(() => startServiceWithTenant(jiraSettings))
  const tracker = () => jiraSender(at().service)
  const connected = async (...webhookIds: ReadonlyArray<number>) => {
    const made = await tracker().made(at().tenant)
    await insertAuthorization(at().pool, made.id, ...(webhookIds.length === 0 ? [1007] : webhookIds))
    return made
  }
  const rowsOf = async (integration: string) => {
    const { rows } = await at().pool.query("select * from inbound_webhooks where integration_id = $1 order by id", [
      integration
    ])
    return rows
  }
  const move = (id: string, to: string) =>
    at().service.api("POST", `/integrations/${id}/${to}`, { as: "owner", tenant: at().tenant })

  for (const kind of ["created", "updated", "deleted"] as const) {
    it(`tell of an issue that was ${kind}, and are kept in the characters they came in`, async () => {
      const { id, key } = await connected()
      const body = `${JSON.stringify(makeWebhookBody(kind), null, 1)}\n`
      assertAccepted(await tracker().send(key, body, { identifier: "6f1c2b0e" }))
      const [row] = await rowsOf(id)
      assert.deepInclude(row, {
        tenant_id: at().tenant,
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

  it("come in at an address that is shown once and lies nowhere in the clear", async () => {
    const { id, key, webhookUrl } = await tracker().made(at().tenant)
    assert.match(webhookUrl, /^https:\/\/contracting\.example\/api\/v1\/webhooks\/[A-Za-z0-9_-]{43}$/)
    const read = await at().service.api("GET", `/integrations/${id}`, { as: "owner", tenant: at().tenant })
    assert.deepInclude(read.body.data, { status: "PENDING_AUTH", isAuthorized: false })
    assert.notInclude(read.text, "webhookUrl")
    const { rows } = await at().pool.query("select key_hash, sealed from webhook_endpoints where integration_id = $1", [
      id
    ])
    assert.deepStrictEqual(rows[0].key_hash, createHash("sha256").update(key).digest())
    assert.notInclude(rows[0].sealed.toString("latin1"), key)
    const { rows: events } = await at().pool.query("select data::text as data from events where resource_id = $1", [id])
    assert.notInclude(events[0].data, key)
  })

  it("come in at the address before for as long as was said when it was replaced", async () => {
    const { id, key } = await connected()
    const rotate = (overlapHours: number) =>
      at().service.api("POST", `/integrations/${id}/rotate-secret`, {
        as: "owner",
        tenant: at().tenant,
        body: { overlapHours }
      })
    const { body, status } = await rotate(1)
    assert.strictEqual(status, 200)
    const second = webhookKeyOf(body.data.webhookUrl)
    assert.notStrictEqual(second, key)
    assertAccepted(await tracker().send(key, makeWebhookBody("updated")))
    assertAccepted(await tracker().send(second, makeWebhookBody("updated")), false)
    await at().pool.query(
      "update webhook_endpoints set expires_at = now() where integration_id = $1 and expires_at > now()",
      [id]
    )
    assertFailure(await tracker().send(key, makeWebhookBody("updated")), 404, notFoundText)
    const third = webhookKeyOf((await rotate(0)).body.data.webhookUrl)
    assertFailure(await tracker().send(second, makeWebhookBody("updated")), 404, notFoundText)
    await registerWebhookIds(at().pool, id, id, 2001)
    assertAccepted(await tracker().send(third, makeWebhookBody("updated", { webhookIds: [2001] })))
    const { rows } = await at().pool.query("select 1 from webhook_endpoints where integration_id = $1", [id])
    assert.lengthOf(rows, 2, "what expired before is forgotten")
  })

  it("are wanted by nobody before the authorization, nor with numbers that are not ours", async () => {
    const pending = await tracker().made(at().tenant)
    await registerWebhookIds(at().pool, pending.id, pending.id, 1007)
    assertAccepted(await tracker().send(pending.key, makeWebhookBody("created")), false)
    const { id, key } = await connected(5, 6)
    for (const webhookIds of [[], [7], [1007, -5]]) {
      assertAccepted(await tracker().send(key, makeWebhookBody("created", { webhookIds })), false)
    }
    assertAccepted(await tracker().send(key, makeWebhookBody("created", { webhookIds: [7, 6, 6, 5] })))
    assert.lengthOf(await rowsOf(id), 1)
    assert.lengthOf(await rowsOf(pending.id), 0)
  })

  it("are taken while the integration is paused or in trouble", async () => {
    const { id, key } = await connected()
    await move(id, "pause")
    assertAccepted(await tracker().send(key, makeWebhookBody("created")))
    await at().pool.query("update integrations set status = 'ERROR' where id = $1", [id])
    assertAccepted(await tracker().send(key, makeWebhookBody("updated")))
    assert.lengthOf(await rowsOf(id), 2)
  })

  it("go to every integration that registered their numbers at the address, whosever they are", async () => {
    const first = await connected(1)
    const theirs = await at().service.newTenant("neighbour")
    const second = await tracker().made(theirs, "neighbour")
    const stranger = await tracker().made(theirs, "neighbour")
    await at().pool.query("update integrations set status = 'ACTIVE', is_authorized = true where tenant_id = $1", [
      theirs
    ])
    await registerWebhookIds(at().pool, second.id, first.id, 2)
    await registerWebhookIds(at().pool, stranger.id, stranger.id, 1, 2)
    assertAccepted(await tracker().send(first.key, makeWebhookBody("created", { webhookIds: [1, 2] })))
    assertAccepted(await tracker().send(first.key, makeWebhookBody("updated", { webhookIds: [2] })))
    const counts = [first, second, stranger].map(async ({ id }) => (await rowsOf(id)).length)
    assert.deepStrictEqual(await Promise.all(counts), [1, 2, 0])
    await at().service.api("DELETE", `/tenants/${theirs}`, { as: "neighbour" })
    assertAccepted(await tracker().send(first.key, makeWebhookBody("updated", { webhookIds: [2] })), false)
  })

  it("still come in at a shared address whose own tenant is deleted, for those who share it", async () => {
    const theirs = await at().service.newTenant("leaver")
    const owner = await tracker().made(theirs, "leaver")
    await insertAuthorization(at().pool, owner.id, 11)
    const sharing = await tracker().made(at().tenant)
    await insertAuthorization(at().pool, sharing.id, 12)
    await at().pool.query("delete from tracker_webhooks where integration_id = $1", [sharing.id])
    await registerWebhookIds(at().pool, sharing.id, owner.id, 12)
    await at().service.api("DELETE", `/tenants/${theirs}`, { as: "leaver" })
    assertAccepted(await tracker().send(owner.key, makeWebhookBody("created", { webhookIds: [11, 12] })))
    assertAccepted(await tracker().send(owner.key, makeWebhookBody("created", { webhookIds: [11] })), false)
    assert.lengthOf(await rowsOf(sharing.id), 1)
    assert.lengthOf(await rowsOf(owner.id), 0)
    const ours = await at().service.newTenant("last")
    const last = await tracker().made(ours, "last")
    await insertAuthorization(at().pool, last.id, 13)
    await at().service.api("DELETE", `/tenants/${ours}`, { as: "last" })
    assertFailure(await tracker().send(last.key, makeWebhookBody("created", { webhookIds: [13] })), 404, notFoundText)
    await at().service.api("DELETE", `/integrations/${sharing.id}`, { as: "owner", tenant: at().tenant })
    assertFailure(await tracker().send(owner.key, makeWebhookBody("created", { webhookIds: [12] })), 404, notFoundText)
  })

  it("are kept once however often they are sent, one after the other or at once", async () => {
    const { id, key } = await connected()
    const other = await connected()
    const body = makeWebhookBody("created")
    const answers = await Promise.all(
      Array.from({ length: 20 }, () => tracker().send(key, body, { identifier: "the-same" }))
    )
    for (const answer of [...answers, await tracker().send(key, body, { identifier: "the-same" })]) {
      assertAccepted(answer)
    }
    assertAccepted(await tracker().send(other.key, body, { identifier: "the-same" }))
    assert.lengthOf(await rowsOf(id), 1)
    assert.lengthOf(await rowsOf(other.id), 1)
  })

  it("may be of 5 MiB, and have an identifier longer than an index holds", async () => {
    const { id, key } = await connected()
    const most = 5 * 1024 * 1024
    const sized = (size: number) => {
      const bare = JSON.stringify({ ...makeWebhookBody("updated"), filler: "" })
      return JSON.stringify({ ...makeWebhookBody("updated"), filler: "x".repeat(size - bare.length) })
    }
    const long = "i".repeat(5000)
    assertAccepted(await tracker().send(key, sized(most), { identifier: long }))
    assertAccepted(await tracker().send(key, sized(most), { identifier: long }))
    const rows = await rowsOf(id)
    assert.lengthOf(rows, 1)
    assert.strictEqual(rows[0].body.length, most)
    assert.strictEqual((await tracker().send(key, sized(most + 1))).status, 413)
  })

  it("hold whatever a tracker thinks of, in the places nobody names", async () => {
    const { id, key } = await connected()
    const body = {
      ...makeWebhookBody("updated"),
      changelog: { items: [{ toString: "a", constructor: 1, from: "\u0000 \ud800" }] },
      nested: { timestamp: "no", issue: null }
    }
    assertAccepted(await tracker().send(key, JSON.stringify(body).replace("nested", "__proto__")))
    const [row] = await rowsOf(id)
    assert.include(row.body, "\\u0000 \\ud800")
    assert.include(row.body, "__proto__")
  })
})

describe("without its database", () => {
  it("a webhook is answered so that the tracker sends it again", { timeout: 60_000 }, async () => {
    const database = await freshDatabase()
    const proxy = await startProxy(database.url)
    const service = await startService({ ...jiraSettings, DATABASE_URL: proxy.url })
    const pool = openPool(database.url)
    const tracker = jiraSender(service)
    const tenant = await service.newTenant()
    const { id, key } = await tracker.made(tenant)
    await insertAuthorization(pool, id, 1007)
    await proxy.cut()
    assertUnavailable(await tracker.send(key, makeWebhookBody("created"), { identifier: "once" }))
    await proxy.restore()
    assertAccepted(await tracker.send(key, makeWebhookBody("created"), { identifier: "once" }))

    // Any other fault of ours, such as a table that is not there.
    await pool.query("alter table inbound_webhooks rename to elsewhere")
    assertUnavailable(await tracker.send(key, makeWebhookBody("updated"), { identifier: "twice" }))
    await pool.query("alter table elsewhere rename to inbound_webhooks")
    assertAccepted(await tracker.send(key, makeWebhookBody("updated"), { identifier: "twice" }))
    const { rows } = await pool.query("select identifier from inbound_webhooks order by id")
    assert.deepStrictEqual(rows, [{ identifier: "once" }, { identifier: "twice" }])
    await pool.end()
    await service.stop()
    await proxy.stop()
    await database.drop()
  })
})
