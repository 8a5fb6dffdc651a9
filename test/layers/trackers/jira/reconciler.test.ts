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
import { sendJson } from "../../../support/servers/jsonServer.ts"
import { type Service, startService } from "../../../support/servers/service.ts"
import { eventually, startWorker } from "../../../support/servers/worker.ts"

const publicUrl = "https://contracting.example.com"

describe("The Jira webhook of an integration", () => {
  let service: Service
  let jira: JiraServer
  let sql: ReturnType<typeof openPool>
  let reconciler: Reconciler
  let site = ""
  let sites = 0
  beforeAll(async () => {
    jira = await startJira()
    service = await startService({ JIRA_API_URL: `${jira.url}/`, PUBLIC_URL: `${publicUrl}/` })
    sql = openPool(service.database.url)
  })
  beforeEach(() => {
    site = `site-${++sites}`
    reconciler = startReconciler(service)
  })
  afterEach(async () => {
    jira.intercept(undefined)
    Object.assign(jira.state, { isOneUrlOnly: false, tellsText: false })
    await reconciler.stop()
    await sql.query("update integrations set status = 'ERROR' where provider = 'JIRA'")
  })
  afterAll(async () => {
    await sql.end()
    await service.stop()
    await jira.stop()
  })

  const insertConnected = (fields: { readonly jql?: string; readonly token?: string } = {}) =>
    insertConnectedTenant(service, sql, { site, ...fields })
  const storedWebhooksOf = async (integration: string) => {
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
  const runRounds = async (count: number) => {
    for (let n = 0; n < count; n++) await reconciler.reconcileAll()
  }

  it("is registered with the URL of the endpoint and stored", async () => {
    const { integration, key } = await insertConnected()
    await runRounds(2)
    const [webhook, ...others] = jira.webhooksOf(site)
    assert.lengthOf(others, 0)
    assert.deepInclude(webhook, {
      url: urlOf(key),
      jqlFilter: "project != null",
      events: ["jira:issue_created", "jira:issue_updated", "jira:issue_deleted"]
    })
    assert.deepStrictEqual(await storedWebhooksOf(integration), [
      { id: webhook?.id, site, hash: hashOf(key), fresh: true }
    ])
  })

  it("is registered by registerNew for new integrations, and retried after a rejection only by a full round", async () => {
    const { integration } = await insertConnected({ jql: jira.state.badFilter })
    const accepted = await insertConnected()
    const requestCount = jira.requestsOf("POST").length
    for (let n = 0; n < 4; n++) await reconciler.registerNew()
    assert.lengthOf(await storedWebhooksOf(accepted.integration), 1)
    assert.strictEqual(jira.requestsOf("POST").length - requestCount, 2)
    assert.deepInclude(await statusOf(integration), { status: "ACTIVE" })
    await runRounds(2)
    assert.deepInclude(await statusOf(integration), { status: "ERROR" })
    assert.lengthOf(jira.webhooksOf(site), 1)
  })

  it("is registered by the janitor", async () => {
    const { integration } = await insertConnected({ jql: "project = A" })
    const janitor = await startWorker(service, "janitor")
    await eventually(async () => (await storedWebhooksOf(integration)).length === 1, "the webhook is stored")
    await janitor.stop()
    assert.strictEqual(jira.webhooksOf(site)[0]?.jqlFilter, "project = A")
  })

  it("is registered once by concurrent reconcilers", async () => {
    const others = [startReconciler(service), startReconciler(service), startReconciler(service)]
    await insertConnected()
    await Promise.all([reconciler, ...others].map((one) => one.reconcileAll()))
    await Promise.all(others.map((one) => one.stop()))
    assert.lengthOf(jira.webhooksOf(site), 1)
  })

  it("is registered by another reconciler after the first one released its lease", async () => {
    await reconciler.reconcileAll()
    const other = startReconciler(service)
    await insertConnected()
    await other.reconcileAll()
    assert.lengthOf(jira.webhooksOf(site), 0)
    await reconciler.stop()
    await other.reconcileAll()
    assert.lengthOf(jira.webhooksOf(site), 1)
    await other.stop()
    reconciler = startReconciler(service)
  })

  it("is found and not registered twice if it was registered but not stored", async () => {
    const { integration } = await insertConnected()
    await reconciler.reconcileAll()
    await sql.query("delete from tracker_webhooks where integration_id = $1", [integration])
    await reconciler.reconcileAll()
    assert.lengthOf(jira.webhooksOf(site), 1)
    assert.strictEqual((await storedWebhooksOf(integration))[0]?.id, jira.webhooksOf(site)[0]?.id)
  })

  it.each([true, false])("is refreshed before it expires (Jira sends the expiry as text: %s)", async (tellsText) => {
    const { integration } = await insertConnected()
    await reconciler.reconcileAll()
    jira.state.sendsDatesAsText = tellsText
    const [webhook] = jira.webhooksOf(site)
    await sql.query("update tracker_webhooks set expires_at = now() + interval '8 days'")
    await reconciler.reconcileAll()
    assert.lengthOf(
      jira.requestsOf("PUT").filter(({ url }) => url.pathname.includes(`${site}/`)),
      0
    )
    await sql.query("update tracker_webhooks set expires_at = now() + interval '6 days'")
    await reconciler.reconcileAll()
    assert.lengthOf(
      jira.requestsOf("PUT").filter(({ url }) => url.pathname.includes(`${site}/`)),
      1
    )
    assert.deepInclude((await storedWebhooksOf(integration))[0], { id: webhook?.id, fresh: true })
    assert.lengthOf(jira.webhooksOf(site), 1)
  })

  it("is registered again if Jira has deleted it", async () => {
    const { integration } = await insertConnected()
    await reconciler.reconcileAll()
    const [deleted] = jira.webhooksOf(site)
    jira.webhooks.delete(deleted?.id ?? 0)
    await sql.query("update tracker_webhooks set expires_at = now() where integration_id = $1", [integration])
    await reconciler.reconcileAll()
    const [webhook] = jira.webhooksOf(site)
    assert.notStrictEqual(webhook?.id, deleted?.id)
    assert.deepInclude((await storedWebhooksOf(integration))[0], { id: webhook?.id, fresh: true })
  })

  it("is registered again by a new reconciler if Jira has deleted one of several", async () => {
    const connected = [await insertConnected(), await insertConnected(), await insertConnected()]
    await reconciler.reconcileAll()
    assert.lengthOf(jira.webhooksOf(site), 3)
    jira.webhooks.delete(jira.webhooksOf(site)[2]?.id ?? 0)
    await reconciler.reconcileAll()
    assert.lengthOf(jira.webhooksOf(site), 2)
    await reconciler.stop()
    reconciler = startReconciler(service)
    await reconciler.reconcileAll()
    const ids = await Promise.all(
      connected.map(async ({ integration }) => (await storedWebhooksOf(integration))[0]?.id)
    )
    assert.sameMembers(
      ids,
      jira.webhooksOf(site).map(({ id }) => id)
    )
  })

  it("is replaced when the JQL filter changes", async () => {
    const { integration } = await insertConnected()
    await reconciler.reconcileAll()
    await sql.query(`update integrations set config = '{"jql":"project = B"}' where id = $1`, [integration])
    await reconciler.reconcileAll()
    assert.deepStrictEqual(
      jira.webhooksOf(site).map(({ jqlFilter }) => jqlFilter),
      ["project = B"]
    )
  })

  it("moves to the new endpoint when the old endpoint expires", async () => {
    const { integration, tenant } = await insertConnected()
    await reconciler.reconcileAll()
    jira.state.isOneUrlOnly = true
    await sql.query("update webhook_endpoints set expires_at = now() + interval '1 day' where integration_id = $1", [
      integration
    ])
    const key = await insertEndpoint(service, sql, tenant, integration)
    await reconciler.reconcileAll()
    assert.deepStrictEqual(
      jira.webhooksOf(site).map(({ url }) => url),
      [urlOf(key)]
    )
    assert.strictEqual((await storedWebhooksOf(integration))[0]?.hash, hashOf(key))
  })

  it("shares the URL of another integration if the site allows only one URL", async () => {
    jira.state.isOneUrlOnly = true
    const first = await insertConnected()
    await reconciler.reconcileAll()
    const second = await insertConnected()
    await reconciler.reconcileAll()
    assert.deepStrictEqual(
      jira.webhooksOf(site).map(({ url }) => url),
      [urlOf(first.key), urlOf(first.key)]
    )
    const [[one], [two]] = [await storedWebhooksOf(first.integration), await storedWebhooksOf(second.integration)]
    assert.strictEqual(two?.hash, hashOf(first.key))
    assert.notStrictEqual(one?.id, two?.id)
    await service.api("DELETE", `/integrations/${first.integration}`, { as: "owner", tenant: first.tenant })
    await eventually(() => jira.webhooksOf(site).length === 1, "the webhook of the first integration is deleted")
    await reconciler.reconcileAll()
    assert.deepStrictEqual(
      jira.webhooksOf(site).map(({ url }) => url),
      [urlOf(second.key)]
    )
  })

  it("moves the integration to ERROR after three rejections, and is registered after a resume", async () => {
    const { integration, tenant } = await insertConnected({ jql: jira.state.badFilter })
    await runRounds(2)
    assert.strictEqual((await statusOf(integration)).status, "ACTIVE")
    await reconciler.reconcileAll()
    const { reason, status } = await statusOf(integration)
    assert.strictEqual(status, "ERROR")
    assert.include(reason, `The clause ${jira.state.badFilter} is not supported`)
    await sql.query("update integrations set config = '{}' where id = $1", [integration])
    await service.api("POST", `/integrations/${integration}/resume`, { as: "owner", tenant })
    await reconciler.reconcileAll()
    assert.lengthOf(jira.webhooksOf(site), 1)
  })

  it("moves the integration to ERROR if the rejection has characters that PostgreSQL cannot store", async () => {
    const { integration } = await insertConnected()
    jira.intercept((_, response) => {
      sendJson(response, 400, { errorMessages: [`No\u0000 ${"x".repeat(499)}\u{1F600}`, "\ud800"] })
      return true
    })
    await runRounds(3)
    const { reason, status } = await statusOf(integration)
    assert.strictEqual(status, "ERROR")
    assert.match(reason, /Jira answered 400: No x/)
  })

  it("is registered with the renewed token if Jira rejects the old token", async () => {
    const { integration, tenant } = await insertConnected({ token: "outdated" })
    jira.intercept(async ({ headers }) => {
      if (headers.authorization === "Bearer outdated")
        await insertGrant(service, sql, { tenant, integration, token: "valid", generation: 2, site })
      return false
    })
    await reconciler.reconcileAll()
    assert.lengthOf(await storedWebhooksOf(integration), 1)
  })

  it.each([429, 500, 503])("is requested once in five rounds while Jira answers %i", async (status) => {
    const { integration } = await insertConnected()
    jira.intercept((_, response) => {
      sendJson(response, status, {})
      return true
    })
    const before = jira.requests.length
    await runRounds(5)
    assert.strictEqual(jira.requests.length, before + 1)
    assert.strictEqual((await statusOf(integration)).status, "ACTIVE")
  })

  it("is registered although the registration of another integration fails", async () => {
    const failing = await insertConnected()
    const working = await insertConnected()
    jira.intercept(({ headers }, response) => {
      if (headers.authorization !== "Bearer broken") return false
      response.destroy()
      return true
    })
    await insertGrant(service, sql, { ...failing, token: "broken", site })
    await reconciler.reconcileAll()
    assert.lengthOf(await storedWebhooksOf(failing.integration), 0)
    assert.lengthOf(await storedWebhooksOf(working.integration), 1)
  })

  it("is deleted with its integration, whose deletion does not wait for Jira", async () => {
    const [answered, unanswered] = [await insertConnected(), await insertConnected()]
    await reconciler.reconcileAll()
    await service.api("DELETE", `/integrations/${answered.integration}`, { as: "owner", tenant: answered.tenant })
    await eventually(() => jira.webhooksOf(site).length === 1, "the webhook is deleted")
    jira.intercept(() => true)
    const { status } = await service.api("DELETE", `/integrations/${unanswered.integration}`, {
      as: "owner",
      tenant: unanswered.tenant
    })
    assert.strictEqual(status, 204)
  })

  it("is kept if the deletion of the integration is rejected", async () => {
    const { integration, tenant } = await insertConnected()
    await reconciler.reconcileAll()
    const { status } = await service.api("DELETE", `/integrations/${integration}`, {
      as: "owner",
      tenant,
      headers: { "if-match": '"other"' }
    })
    assert.strictEqual(status, 412)
    assert.lengthOf(jira.webhooksOf(site), 1)
  })

  it.each(["PENDING_AUTH", "ERROR"])("is not registered while the integration is %s", async (status) => {
    const { integration } = await insertConnected()
    await sql.query("update integrations set status = $2 where id = $1", [integration, status])
    await reconciler.reconcileAll()
    assert.lengthOf(jira.webhooksOf(site), 0)
  })

  it("is registered for a paused integration and not for a deleted tenant", async () => {
    const [paused, deleted] = [await insertConnected(), await insertConnected()]
    await sql.query("update integrations set status = 'PAUSED' where id = $1", [paused.integration])
    await service.api("DELETE", `/tenants/${deleted.tenant}`, { as: "owner" })
    await reconciler.reconcileAll()
    assert.deepStrictEqual(
      jira.webhooksOf(site).map(({ url }) => url),
      [urlOf(paused.key)]
    )
  })
})
