import { assert, describe, it } from "vitest"
import { countDeletes } from "../../support/assertions/deleteCounts.ts"
import { insertDeliveredEvents } from "../../support/fixtures/deliveredRows.ts"
import { insertDelivery, insertIntegration } from "../../support/fixtures/deliveryRows.ts"
import { eventsOf } from "../../support/fixtures/integrationRows.ts"
import { insertInboundWebhook, insertIssues } from "../../support/fixtures/issueRows.ts"
import { useFixture } from "../../support/fixtures/useFixture.ts"
import { runJanitorOnce } from "../../support/servers/janitor.ts"
import { startServiceWithTenant } from "../../support/servers/serviceWithPool.ts"

describe("a deleted integration", { timeout: 60_000 }, () => {
  const at = useFixture(startServiceWithTenant)
  const api = (method: string, path: string, body?: unknown) =>
    at().service.api(method, path, { as: "owner", tenant: at().tenant, ...(body === undefined ? {} : { body }) })

  const left = async (integration: string) => {
    const tables = [
      ...["deliveries", "inbound_webhooks", "tracked_issues", "subscriptions", "integration_secrets"],
      ...["webhook_endpoints", "tracker_webhooks", "redeliveries", "grants", "pending_grants", "oauth_states"]
    ]
    const counts = tables.map((table) => `select 1 from ${table} where integration_id = $1`)
    const { rows } = await at().pool.query(
      `${counts.join(" union all ")} union all select 1 from all_integrations where id = $1`,
      [integration]
    )
    return rows.length
  }

  /** An integration with something of everything, and the paths that lead to it. */
  const plant = async () => {
    const { pool, tenant } = at()
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

  it("is gone for every reader at once, and recorded once", async () => {
    const { actions, id, paths } = await plant()
    for (const path of paths) assert.strictEqual((await api("GET", path)).status, 200, path)
    const used = async () =>
      (await api("GET", "/limits")).body.data.find(({ name }: { name: string }) => name === "integrations").used
    const before = await used()
    assert.strictEqual((await api("DELETE", `/integrations/${id}`)).status, 204)
    for (const path of paths) assert.strictEqual((await api("GET", path)).status, 404, path)
    for (const path of actions) assert.strictEqual((await api("POST", path)).status, 404, path)
    assert.strictEqual((await api("DELETE", `/integrations/${id}`)).status, 404)
    assert.notInclude((await api("GET", "/integrations")).text, id)
    assert.strictEqual(await used(), before - 1)
    assert.deepStrictEqual(
      (await eventsOf(at().pool, id)).map(({ type }) => type),
      ["integration.deleted"]
    )
    const { rows } = await at().pool.query("select 1 from webhook_endpoints where integration_id = $1", [id])
    assert.lengthOf(rows, 0)
  })

  it("leaves nothing behind once the janitor was there, whose work is done in small transactions", async () => {
    const [{ id }, other] = [await plant(), await plant()]
    await insertDeliveredEvents(at().pool, at().tenant, id, 1500)
    const [before, watch] = [await left(other.id), await countDeletes(at().pool, "deliveries", "delivery_attempts")]
    assert.strictEqual((await api("DELETE", `/integrations/${id}`)).status, 204)
    assert.strictEqual((await watch.noted("deliveries")).sum, 0)
    await runJanitorOnce(at().service, { EVENT_RETENTION_DAYS: "100" })
    assert.strictEqual(await left(id), 0)
    assert.strictEqual(await left(other.id), before)
    assert.isAtMost((await watch.noted("deliveries")).max, 500)
    assert.isAtMost((await watch.noted("delivery_attempts")).max, 2000)
    await watch.stop()
  })
})
