import type pg from "pg"
import { afterAll, afterEach, assert, beforeAll, describe, it } from "vitest"
import { insertAuthorizedIntegration, insertGrant } from "../../support/fixtures/grantRows.ts"
import { openPool } from "../../support/servers/database.ts"
import { runJanitorOnce } from "../../support/servers/janitor.ts"
import { type JiraServer, startJira } from "../../support/servers/jira.ts"
import { insertConnectedTenant, startReconciler } from "../../support/servers/jiraWebhookReconciler.ts"
import { answerJson } from "../../support/servers/jsonServer.ts"
import { type OAuthProviderServer, startOAuthProvider } from "../../support/servers/oauthProvider.ts"
import { type Service, startService } from "../../support/servers/service.ts"

describe("a tenant that is erased", () => {
  let tracker: JiraServer
  let server: OAuthProviderServer
  let service: Service
  let pool: pg.Pool
  let environment: Readonly<Record<string, string>>
  beforeAll(async () => {
    tracker = await startJira()
    server = await startOAuthProvider()
    environment = { ...server.environment, JIRA_API_URL: tracker.url }
    service = await startService(environment)
    pool = openPool(service.database.url)
  })
  afterEach(() => {
    tracker.meet(undefined)
    server.answer("/revoke", undefined)
  })
  afterAll(async () => {
    await pool.end()
    await service.stop()
    await server.stop()
    await tracker.stop()
  })

  /** A tenant that has let us into a tracker, where a webhook is registered, and into a drive. */
  const connected = async (site: string) => {
    const { tenant } = await insertConnectedTenant(service, pool, { site })
    const integration = await insertAuthorizedIntegration(pool, tenant, {
      provider: "GOOGLE_DRIVE",
      config: { folderId: "f" }
    })
    const token = `drive of ${site}`
    await insertGrant(service, pool, { tenant, integration, token })
    const upkeep = startReconciler(service)
    await upkeep.round()
    await upkeep.stop()
    assert.lengthOf(tracker.at(site), 1)
    return { tenant, token }
  }
  const deleted = (tenant: string) => service.api("DELETE", `/tenants/${tenant}`, { as: "owner" })
  const erase = () => runJanitorOnce(service, { ...environment, TENANT_RETENTION_DAYS: "0" })
  const left = async (tenant: string) => {
    const { rows } = await pool.query(
      "select id from tenants where id = $1 union all select id from integrations where tenant_id = $1",
      [tenant]
    )
    return rows.length
  }
  const revoked = () => server.askedFor("/revoke").map(({ fields }) => fields["token"])

  it("leaves no webhook with its tracker and no token with us, and takes nothing from another", async () => {
    const [one, other] = [await connected("one"), await connected("other")]
    await deleted(one.tenant)
    await erase()
    assert.strictEqual(await left(one.tenant), 0)
    assert.lengthOf(tracker.at("one"), 0)
    assert.include(revoked(), one.token)
    assert.lengthOf(tracker.at("other"), 1)
    assert.notInclude(revoked(), other.token)
  })

  it("is erased all the same when every provider refuses", async () => {
    const { tenant } = await connected("refusing")
    tracker.meet((_, response) => {
      answerJson(response, 403, { message: "no" })
      return true
    })
    server.answer("/revoke", { status: 500, body: {} })
    await deleted(tenant)
    await erase()
    assert.strictEqual(await left(tenant), 0)
  })

  it("is erased all the same when nobody answers, and soon", { timeout: 60_000 }, async () => {
    const { tenant } = await connected("silent")
    tracker.meet(() => true)
    server.answer("/revoke", "silence")
    await deleted(tenant)
    const started = performance.now()
    await erase()
    assert.isBelow(performance.now() - started, 30_000)
    assert.strictEqual(await left(tenant), 0)
  })

  it("is erased all the same when its tokens do not open any more", async () => {
    const { tenant } = await connected("sealed")
    await pool.query("update grants set access = 'x' where tenant_id = $1", [tenant])
    await deleted(tenant)
    await erase()
    assert.strictEqual(await left(tenant), 0)
  })
})
