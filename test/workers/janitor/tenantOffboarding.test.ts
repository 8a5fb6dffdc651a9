import type pg from "pg"
import { afterAll, afterEach, assert, beforeAll, describe, it } from "vitest"
import { insertAuthorizedIntegration, insertGrant } from "../../support/fixtures/grantRows.ts"
import { openPool } from "../../support/servers/database.ts"
import { runJanitorOnce } from "../../support/servers/janitor.ts"
import { type JiraServer, startJira } from "../../support/servers/jira.ts"
import { insertConnectedTenant, startReconciler } from "../../support/servers/jiraWebhookReconciler.ts"
import { sendJson } from "../../support/servers/jsonServer.ts"
import { type OAuthProviderServer, startOAuthProvider } from "../../support/servers/oauthProvider.ts"
import { type Service, startService } from "../../support/servers/service.ts"

describe("The erasure of a tenant", () => {
  let jira: JiraServer
  let oauthProvider: OAuthProviderServer
  let service: Service
  let pool: pg.Pool
  let environment: Readonly<Record<string, string>>
  beforeAll(async () => {
    jira = await startJira()
    oauthProvider = await startOAuthProvider()
    environment = { ...oauthProvider.environment, JIRA_API_URL: jira.url }
    service = await startService(environment)
    pool = openPool(service.database.url)
  })
  afterEach(() => {
    jira.intercept(undefined)
    oauthProvider.overrideResponse("/revoke", undefined)
  })
  afterAll(async () => {
    await pool.end()
    await service.stop()
    await oauthProvider.stop()
    await jira.stop()
  })

  /** A tenant with a webhook registered in Jira and a Google Drive token. */
  const createConnectedTenant = async (site: string) => {
    const { tenant } = await insertConnectedTenant(service, pool, { site })
    const integration = await insertAuthorizedIntegration(pool, tenant, {
      provider: "GOOGLE_DRIVE",
      config: { folderId: "f" }
    })
    const token = `Google Drive token of ${site}`
    await insertGrant(service, pool, { tenant, integration, token })
    const reconciler = startReconciler(service)
    await reconciler.reconcileAll()
    await reconciler.stop()
    assert.lengthOf(jira.webhooksOf(site), 1)
    return { tenant, token }
  }
  const deleteTenant = (tenant: string) => service.api("DELETE", `/tenants/${tenant}`, { as: "owner" })
  const erase = () => runJanitorOnce(service, { ...environment, TENANT_RETENTION_DAYS: "0" })
  const countRows = async (tenant: string) => {
    const { rows } = await pool.query(
      "select id from tenants where id = $1 union all select id from integrations where tenant_id = $1",
      [tenant]
    )
    return rows.length
  }
  const revokedTokens = () => oauthProvider.requestsTo("/revoke").map(({ fields }) => fields["token"])

  it("removes its Jira webhooks and revokes its tokens, and leaves other tenants alone", async () => {
    const [one, other] = [await createConnectedTenant("one"), await createConnectedTenant("other")]
    await deleteTenant(one.tenant)
    await erase()
    assert.strictEqual(await countRows(one.tenant), 0)
    assert.lengthOf(jira.webhooksOf("one"), 0)
    assert.include(revokedTokens(), one.token)
    assert.lengthOf(jira.webhooksOf("other"), 1)
    assert.notInclude(revokedTokens(), other.token)
  })

  it("succeeds when every provider refuses", async () => {
    const { tenant } = await createConnectedTenant("refusing")
    jira.intercept((_, response) => {
      sendJson(response, 403, { message: "no" })
      return true
    })
    oauthProvider.overrideResponse("/revoke", { status: 500, body: {} })
    await deleteTenant(tenant)
    await erase()
    assert.strictEqual(await countRows(tenant), 0)
  })

  it("succeeds when no provider responds", { timeout: 60_000 }, async () => {
    const { tenant } = await createConnectedTenant("silent")
    jira.intercept(() => true)
    oauthProvider.overrideResponse("/revoke", "silence")
    await deleteTenant(tenant)
    await erase()
    assert.strictEqual(await countRows(tenant), 0)
  })

  it("succeeds when the tokens cannot be decrypted", async () => {
    const { tenant } = await createConnectedTenant("sealed")
    await pool.query("update grants set access = 'x' where tenant_id = $1", [tenant])
    await deleteTenant(tenant)
    await erase()
    assert.strictEqual(await countRows(tenant), 0)
  })
})
