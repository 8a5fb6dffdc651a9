import { assert, describe, it } from "vitest"
import { countDeletes } from "../../support/assertions/deleteCounts.ts"
import { insertDeliveredEvents } from "../../support/fixtures/deliveredRows.ts"
import { insertDelivery, insertIntegration } from "../../support/fixtures/deliveryRows.ts"
import { eventsOf } from "../../support/fixtures/integrationRows.ts"
import { insertInboundWebhook, insertIssues } from "../../support/fixtures/issueRows.ts"
import { useFixture } from "../../support/fixtures/useFixture.ts"
import { runJanitorOnce } from "../../support/servers/janitor.ts"
import { startServiceWithTenant } from "../../support/servers/serviceWithPool.ts"

describe("A deleted integration", { timeout: 60_000 }, () => {
  const fixture = useFixture(() => startServiceWithTenant())
  const api = (method: string, path: string, body?: unknown) =>
    fixture().service.api(method, path, {
      as: "owner",
      tenant: fixture().tenant,
      ...(body === undefined ? {} : { body })
    })

  const countRows = async (integration: string) => {
    const tables = [
      ...["deliveries", "inbound_webhooks", "tracked_issues", "subscriptions", "integration_secrets"],
      ...["webhook_endpoints", "tracker_webhooks", "redeliveries", "grants", "pending_grants", "oauth_states"]
    ]
    const counts = tables.map((table) => `select 1 from ${table} where integration_id = $1`)
    const { rows } = await fixture().pool.query(
      `${counts.join(" union all ")} union all select 1 from all_integrations where id = $1`,
      [integration]
    )
    return rows.length
  }

  /** Inserts an integration with a row in every table, and returns the paths that lead to it. */
  const insertFullIntegration = async () => {
    const { pool, tenant } = fixture()
    const id = await insertIntegration(pool, tenant)
    const delivery = await insertDelivery(pool, tenant, id, { status: "PENDING" })
    const webhook = await insertInboundWebhook(pool, tenant, id)
    const issue = await insertIssues(pool, tenant, id)
    const own = `/integrations/${id}`
    const paths = [
      ...["", "/subscriptions", "/deliveries", `/deliveries/${delivery}`],
      ...["/inbound", `/inbound/${webhook}`, "/issues", `/issues/${issue}`]
    ].map((path) => `${own}${path}`)
    const actions = [`${own}/deliveries/${delivery}/redeliver`, `${own}/inbound/${webhook}/replay`, `${own}/pause`]
    return { id, paths, actions }
  }

  it("responds 404 at once on all its paths and records one event", async () => {
    const { actions, id, paths } = await insertFullIntegration()
    for (const path of paths) assert.strictEqual((await api("GET", path)).status, 200, path)
    const countUsed = async () =>
      (await api("GET", "/limits")).body.data.find(({ name }: { name: string }) => name === "integrations").used
    const before = await countUsed()
    assert.strictEqual((await api("DELETE", `/integrations/${id}`)).status, 204)
    for (const path of paths) assert.strictEqual((await api("GET", path)).status, 404, path)
    for (const path of actions) assert.strictEqual((await api("POST", path)).status, 404, path)
    assert.strictEqual((await api("DELETE", `/integrations/${id}`)).status, 404)
    assert.notInclude((await api("GET", "/integrations")).text, id)
    assert.strictEqual(await countUsed(), before - 1)
    assert.deepStrictEqual(
      (await eventsOf(fixture().pool, id)).map(({ type }) => type),
      ["integration.deleted"]
    )
    const { rows } = await fixture().pool.query("select 1 from webhook_endpoints where integration_id = $1", [id])
    assert.lengthOf(rows, 0)
  })

  it("is purged by the janitor in small transactions", async () => {
    const [{ id }, other] = [await insertFullIntegration(), await insertFullIntegration()]
    await insertDeliveredEvents(fixture().pool, fixture().tenant, id, 1500)
    const [before, deletes] = [
      await countRows(other.id),
      await countDeletes(fixture().pool, "deliveries", "delivery_attempts")
    ]
    assert.strictEqual((await api("DELETE", `/integrations/${id}`)).status, 204)
    assert.strictEqual((await deletes.noted("deliveries")).sum, 0)
    await runJanitorOnce(fixture().service, { EVENT_RETENTION_DAYS: "100" })
    assert.strictEqual(await countRows(id), 0)
    assert.strictEqual(await countRows(other.id), before)
    assert.isAtMost((await deletes.noted("deliveries")).max, 500)
    assert.isAtMost((await deletes.noted("delivery_attempts")).max, 2000)
    await deletes.stop()
  })
})
