import { createHash } from "node:crypto"
import { afterAll, afterEach, assert, beforeAll, beforeEach, describe, it } from "vitest"
import { insertGrant } from "../../../support/fixtures/grantRows.ts"
import { openPool } from "../../../support/servers/database.ts"
import { type JiraServer, startJira } from "../../../support/servers/jira.ts"
import {
  insertConnectedTenant,
  insertEndpoint,
  type Reconciler,
  startReconciler
} from "../../../support/servers/jiraWebhookReconciler.ts"
import { answerJson } from "../../../support/servers/jsonServer.ts"
import { type Service, startService } from "../../../support/servers/service.ts"
import { eventually, startWorker } from "../../../support/servers/worker.ts"

const publicUrl = "https://contracting.example.com"

describe("a tracker's webhook", () => {
  let service: Service
  let tracker: JiraServer
  let sql: ReturnType<typeof openPool>
  let upkeep: Reconciler
  let site = ""
  let sites = 0
  beforeAll(async () => {
    tracker = await startJira()
    service = await startService({ JIRA_API_URL: `${tracker.url}/`, PUBLIC_URL: `${publicUrl}/` })
    sql = openPool(service.database.url)
  })
  beforeEach(() => {
    site = `site-${++sites}`
    upkeep = startReconciler(service)
  })
  afterEach(async () => {
    tracker.meet(undefined)
    Object.assign(tracker.state, { isOneUrlOnly: false, tellsText: false })
    await upkeep.stop()
    await sql.query("update integrations set status = 'ERROR' where provider = 'JIRA'")
  })
  afterAll(async () => {
    await sql.end()
    await service.stop()
    await tracker.stop()
  })

  const connected = (fields: { readonly jql?: string; readonly token?: string } = {}) =>
    insertConnectedTenant(service, sql, { site, ...fields })
  const keptOf = async (integration: string) => {
    const { rows } = await sql.query(
      `select webhook_id::int as id, site_id as site, encode(key_hash, 'hex') as hash, expires_at > now() + interval '29 days' as fresh
       from tracker_webhooks where integration_id = $1`,
      [integration]
    )
    return rows
  }
  const statusOf = async (integration: string) => {
    const { rows } = await sql.query("select status, status_reason as reason from integrations where id = $1", [
      integration
    ])
    return rows[0]
  }
  const hashOf = (key: string) => createHash("sha256").update(key).digest("hex")
  const urlOf = (key: string) => `${publicUrl}/api/v1/webhooks/${key}`
  const rounds = async (many: number) => {
    for (let n = 0; n < many; n++) await upkeep.round()
  }

  it("is registered where the integration listens, and written down", async () => {
    const { integration, key } = await connected()
    await rounds(2)
    const [hook, ...more] = tracker.at(site)
    assert.lengthOf(more, 0)
    assert.deepInclude(hook, {
      url: urlOf(key),
      jqlFilter: "project != null",
      events: ["jira:issue_created", "jira:issue_updated", "jira:issue_deleted"]
    })
    assert.deepStrictEqual(await keptOf(integration), [{ id: hook?.id, site, hash: hashOf(key), fresh: true }])
  })

  it("is registered at once for who has just come; who was refused is asked for again in a round only", async () => {
    const { integration } = await connected({ jql: tracker.state.badFilter })
    const well = await connected()
    const asked = tracker.made("POST").length
    for (let n = 0; n < 4; n++) await upkeep.greet()
    assert.lengthOf(await keptOf(well.integration), 1)
    assert.strictEqual(tracker.made("POST").length - asked, 2)
    assert.deepInclude(await statusOf(integration), { status: "ACTIVE" })
    await rounds(2)
    assert.deepInclude(await statusOf(integration), { status: "ERROR" })
    assert.lengthOf(tracker.at(site), 1)
  })

  it("is registered by the janitor without anybody asking", async () => {
    const { integration } = await connected({ jql: "project = A" })
    const janitor = await startWorker(service, "janitor")
    await eventually(async () => (await keptOf(integration)).length === 1, "the webhook is written down")
    await janitor.stop()
    assert.strictEqual(tracker.at(site)[0]?.jqlFilter, "project = A")
  })

  it("is registered once by several who try at once", async () => {
    const others = [startReconciler(service), startReconciler(service), startReconciler(service)]
    await connected()
    await Promise.all([upkeep, ...others].map((one) => one.round()))
    await Promise.all(others.map((one) => one.stop()))
    assert.lengthOf(tracker.at(site), 1)
  })

  it("is registered by another when the first one goes", async () => {
    await upkeep.round()
    const other = startReconciler(service)
    await connected()
    await other.round()
    assert.lengthOf(tracker.at(site), 0)
    await upkeep.stop()
    await other.round()
    assert.lengthOf(tracker.at(site), 1)
    await other.stop()
    upkeep = startReconciler(service)
  })

  it("that nobody wrote down is found again instead of registered twice", async () => {
    const { integration } = await connected()
    await upkeep.round()
    await sql.query("delete from tracker_webhooks where integration_id = $1", [integration])
    await upkeep.round()
    assert.lengthOf(tracker.at(site), 1)
    assert.strictEqual((await keptOf(integration))[0]?.id, tracker.at(site)[0]?.id)
  })

  it.each([true, false])("is refreshed before it expires (told as text: %s)", async (tellsText) => {
    const { integration } = await connected()
    await upkeep.round()
    tracker.state.tellsText = tellsText
    const [hook] = tracker.at(site)
    await sql.query("update tracker_webhooks set expires_at = now() + interval '8 days'")
    await upkeep.round()
    assert.lengthOf(
      tracker.made("PUT").filter(({ url }) => url.pathname.includes(`${site}/`)),
      0
    )
    await sql.query("update tracker_webhooks set expires_at = now() + interval '6 days'")
    await upkeep.round()
    assert.lengthOf(
      tracker.made("PUT").filter(({ url }) => url.pathname.includes(`${site}/`)),
      1
    )
    assert.deepInclude((await keptOf(integration))[0], { id: hook?.id, fresh: true })
    assert.lengthOf(tracker.at(site), 1)
  })

  it("is registered again when the tracker does not know it any more", async () => {
    const { integration } = await connected()
    await upkeep.round()
    const [lost] = tracker.at(site)
    tracker.hooks.delete(lost?.id ?? 0)
    await sql.query("update tracker_webhooks set expires_at = now() where integration_id = $1", [integration])
    await upkeep.round()
    const [hook] = tracker.at(site)
    assert.notStrictEqual(hook?.id, lost?.id)
    assert.deepInclude((await keptOf(integration))[0], { id: hook?.id, fresh: true })
  })

  it("that was lost is found missing by whoever looks, among many", async () => {
    const all = [await connected(), await connected(), await connected()]
    await upkeep.round()
    assert.lengthOf(tracker.at(site), 3)
    tracker.hooks.delete(tracker.at(site)[2]?.id ?? 0)
    await upkeep.round()
    assert.lengthOf(tracker.at(site), 2)
    await upkeep.stop()
    upkeep = startReconciler(service)
    await upkeep.round()
    const ids = await Promise.all(all.map(async ({ integration }) => (await keptOf(integration))[0]?.id))
    assert.sameMembers(
      ids,
      tracker.at(site).map(({ id }) => id)
    )
  })

  it("is registered anew when other issues are wanted, and the old one goes", async () => {
    const { integration } = await connected()
    await upkeep.round()
    await sql.query(`update integrations set config = '{"jql":"project = B"}' where id = $1`, [integration])
    await upkeep.round()
    assert.deepStrictEqual(
      tracker.at(site).map(({ jqlFilter }) => jqlFilter),
      ["project = B"]
    )
  })

  it("moves to a new endpoint when the old one is given up", async () => {
    const { integration, tenant } = await connected()
    await upkeep.round()
    tracker.state.isOneUrlOnly = true
    await sql.query("update webhook_endpoints set expires_at = now() + interval '1 day' where integration_id = $1", [
      integration
    ])
    const key = await insertEndpoint(service, sql, tenant, integration)
    await upkeep.round()
    assert.deepStrictEqual(
      tracker.at(site).map(({ url }) => url),
      [urlOf(key)]
    )
    assert.strictEqual((await keptOf(integration))[0]?.hash, hashOf(key))
  })

  it("shares the address of another integration where the site takes only one", async () => {
    tracker.state.isOneUrlOnly = true
    const first = await connected()
    await upkeep.round()
    const second = await connected()
    await upkeep.round()
    assert.deepStrictEqual(
      tracker.at(site).map(({ url }) => url),
      [urlOf(first.key), urlOf(first.key)]
    )
    const [[one], [two]] = [await keptOf(first.integration), await keptOf(second.integration)]
    assert.strictEqual(two?.hash, hashOf(first.key))
    assert.notStrictEqual(one?.id, two?.id)
    await service.api("DELETE", `/integrations/${first.integration}`, { as: "owner", tenant: first.tenant })
    await eventually(() => tracker.at(site).length === 1, "the first is gone")
    await upkeep.round()
    assert.deepStrictEqual(
      tracker.at(site).map(({ url }) => url),
      [urlOf(second.key)]
    )
  })

  it("that is refused three times stops the integration, which tries again when resumed", async () => {
    const { integration, tenant } = await connected({ jql: tracker.state.badFilter })
    await rounds(2)
    assert.strictEqual((await statusOf(integration)).status, "ACTIVE")
    await upkeep.round()
    const { reason, status } = await statusOf(integration)
    assert.strictEqual(status, "ERROR")
    assert.include(reason, `The clause ${tracker.state.badFilter} is not supported`)
    await sql.query("update integrations set config = '{}' where id = $1", [integration])
    await service.api("POST", `/integrations/${integration}/resume`, { as: "owner", tenant })
    await upkeep.round()
    assert.lengthOf(tracker.at(site), 1)
  })

  it("that is refused in words no database can hold stops the integration all the same", async () => {
    const { integration } = await connected()
    tracker.meet((_, response) => {
      answerJson(response, 400, { errorMessages: [`No\u0000 ${"x".repeat(499)}\u{1F600}`, "\ud800"] })
      return true
    })
    await rounds(3)
    const { reason, status } = await statusOf(integration)
    assert.strictEqual(status, "ERROR")
    assert.match(reason, /The tracker answered 400: No x/)
  })

  it("is registered with another token when the tracker refuses the one there was", async () => {
    const { integration, tenant } = await connected({ token: "outdated" })
    tracker.meet(async ({ headers }) => {
      if (headers.authorization === "Bearer outdated")
        await insertGrant(service, sql, { tenant, integration, token: "valid", generation: 2, site })
      return false
    })
    await upkeep.round()
    assert.lengthOf(await keptOf(integration), 1)
  })

  it.each([429, 500, 503])("waits for a tracker that answers %i, and does not press it", async (status) => {
    const { integration } = await connected()
    tracker.meet((_, response) => {
      answerJson(response, status, {})
      return true
    })
    const before = tracker.asked.length
    await rounds(5)
    assert.strictEqual(tracker.asked.length, before + 1)
    assert.strictEqual((await statusOf(integration)).status, "ACTIVE")
  })

  it("of one integration does not depend on another whose tracker fails", async () => {
    const failing = await connected()
    const works = await connected()
    tracker.meet(({ headers }, response) => {
      if (headers.authorization !== "Bearer broken") return false
      response.destroy()
      return true
    })
    await insertGrant(service, sql, { ...failing, token: "broken", site })
    await upkeep.round()
    assert.lengthOf(await keptOf(failing.integration), 0)
    assert.lengthOf(await keptOf(works.integration), 1)
  })

  it("goes when its integration is deleted, and nobody waits for a tracker that does not answer", async () => {
    const [quick, slow] = [await connected(), await connected()]
    await upkeep.round()
    await service.api("DELETE", `/integrations/${quick.integration}`, { as: "owner", tenant: quick.tenant })
    await eventually(() => tracker.at(site).length === 1, "the webhook is gone")
    tracker.meet(() => true)
    const { status } = await service.api("DELETE", `/integrations/${slow.integration}`, {
      as: "owner",
      tenant: slow.tenant
    })
    assert.strictEqual(status, 204)
  })

  it("stays when the deletion is refused", async () => {
    const { integration, tenant } = await connected()
    await upkeep.round()
    const { status } = await service.api("DELETE", `/integrations/${integration}`, {
      as: "owner",
      tenant,
      headers: { "if-match": '"other"' }
    })
    assert.strictEqual(status, 412)
    assert.lengthOf(tracker.at(site), 1)
  })

  it.each(["PENDING_AUTH", "ERROR"])("is not registered while the integration is %s", async (status) => {
    const { integration } = await connected()
    await sql.query("update integrations set status = $2 where id = $1", [integration, status])
    await upkeep.round()
    assert.lengthOf(tracker.at(site), 0)
  })

  it("is kept while the integration is paused, and is not for a tenant that was deleted", async () => {
    const [paused, deleted] = [await connected(), await connected()]
    await sql.query("update integrations set status = 'PAUSED' where id = $1", [paused.integration])
    await service.api("DELETE", `/tenants/${deleted.tenant}`, { as: "owner" })
    await upkeep.round()
    assert.deepStrictEqual(
      tracker.at(site).map(({ url }) => url),
      [urlOf(paused.key)]
    )
  })
})
