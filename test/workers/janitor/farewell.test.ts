import type pg from "pg"
import { afterAll, afterEach, assert, beforeAll, describe, it } from "vitest"
import { type AuthorizationServer, startAuthorizationServer } from "../../support/authorizationServer.ts"
import { openPool } from "../../support/database.ts"
import { plantAuthorized, plantGrant } from "../../support/grants.ts"
import { tidyOnce } from "../../support/janitor.ts"
import { answerJson } from "../../support/jsonServer.ts"
import { type Service, startService } from "../../support/service.ts"
import { startTracker, type TrackerServer } from "../../support/trackerServer.ts"
import { plantConnected, startUpkeep } from "../../support/upkeep.ts"

describe("a tenant that is erased", () => {
  let tracker: TrackerServer
  let server: AuthorizationServer
  let service: Service
  let pool: pg.Pool
  let environment: Readonly<Record<string, string>>
  beforeAll(async () => {
    tracker = await startTracker()
    server = await startAuthorizationServer()
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
    const { tenant } = await plantConnected(service, pool, { site })
    const integration = await plantAuthorized(pool, tenant, { provider: "GOOGLE_DRIVE", config: { folderId: "f" } })
    const token = `drive of ${site}`
    await plantGrant(service, pool, { tenant, integration, token })
    const upkeep = startUpkeep(service)
    await upkeep.round()
    await upkeep.stop()
    assert.lengthOf(tracker.at(site), 1)
    return { tenant, token }
  }
  const deleted = (tenant: string) => service.api("DELETE", `/tenants/${tenant}`, { as: "owner" })
  const erase = () => tidyOnce(service, { ...environment, TENANT_RETENTION_DAYS: "0" })
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
