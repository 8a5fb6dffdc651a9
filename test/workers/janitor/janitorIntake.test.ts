import type pg from "pg"
import { afterAll, assert, beforeAll, describe, it } from "vitest"
import { assertValidationError } from "../../support/assertions/failures.ts"
import { insertAuthorization, insertInboundRow } from "../../support/fixtures/issueRows.ts"
import { makeWebhookBody } from "../../support/fixtures/jiraWebhookBody.ts"
import { assertAccepted, jiraSender, jiraSettings, webhookKeyOf } from "../../support/fixtures/jiraWebhooks.ts"
import { lockRow } from "../../support/fixtures/rowLock.ts"
import { openPool } from "../../support/servers/database.ts"
import { runJanitorOnce } from "../../support/servers/janitor.ts"
import { type Service, startService } from "../../support/servers/service.ts"

const daysAgo = (days: number) => new Date(Date.now() - days * 24 * 60 * 60 * 1000).toISOString()

describe("The cleanup of inbound webhooks", () => {
  let service: Service
  let pool: pg.Pool
  beforeAll(async () => {
    service = await startService(jiraSettings)
    pool = openPool(service.database.url)
  })
  afterAll(async () => {
    await pool.end()
    await service.stop()
  })

  const createIntegration = async () => {
    const tenant = await service.newTenant()
    const { id, key, webhookUrl } = await jiraSender(service).createIntegration(tenant)
    await insertAuthorization(pool, id, 1007)
    const call = (method: string, path: string, body?: object) =>
      service.api(method, `/integrations/${id}${path}`, {
        as: "owner",
        tenant,
        ...(body === undefined ? {} : { body })
      })
    const insert = (days: number, status: "RECEIVED" | "DONE" | "STALE" | "FAILED" = "DONE") =>
      insertInboundRow(pool, tenant, id, { at: daysAgo(days), status })
    const read = async (webhook: string) => (await call("GET", `/inbound/${webhook}`)).body?.data
    return { tenant, id, key, webhookUrl, call, insert, read }
  }

  it("clears the body and error of processed webhooks after the retention, and never of unprocessed ones", async () => {
    const { insert, read } = await createIntegration()
    const processed = [await insert(8), await insert(8, "STALE"), await insert(8, "FAILED")]
    const kept = [await insert(6), await insert(6, "FAILED"), await insert(100, "RECEIVED")]
    await Promise.all([runJanitorOnce(service), runJanitorOnce(service)])
    for (const id of processed) {
      const webhook = await read(id)
      assert.notProperty(webhook, "body")
      assert.notProperty(webhook, "error")
    }
    for (const id of kept) assert.strictEqual((await read(id)).body, "{}")
    assert.strictEqual((await read(kept[1] ?? "")).error, "quoted")
  })

  it("prevents the replay of webhooks without a body, and of no others", async () => {
    const { call, insert, read } = await createIntegration()
    const [old, recent] = [await insert(8, "FAILED"), await insert(6, "FAILED")]
    await runJanitorOnce(service)
    const refused = await call("POST", `/inbound/${old}/replay`)
    assertValidationError(refused, ["body", "state", "is no longer stored, so the webhook cannot be replayed"])
    assert.strictEqual((await read(old)).status, "FAILED")
    const replayed = await call("POST", `/inbound/${recent}/replay`)
    assert.deepInclude(replayed.body.data, { status: "RECEIVED", body: "{}" })
  })

  it("keeps the body of a webhook that is replayed at the same time", async () => {
    const { insert, read } = await createIntegration()
    const id = await insert(8)
    const lock = await lockRow(pool, "select 1 from inbound_webhooks where id = $1 for update", id)
    await runJanitorOnce(service)
    await lock.runInTransaction("update inbound_webhooks set status = 'RECEIVED' where id = $1", id)
    await lock.release()
    await runJanitorOnce(service)
    assert.strictEqual((await read(id)).body, "{}")
  })

  it("deletes processed webhooks after the retention, and never unprocessed ones", async () => {
    const { insert, read } = await createIntegration()
    const [gone, recent, waiting] = [await insert(31), await insert(29), await insert(100, "RECEIVED")]
    await runJanitorOnce(service)
    assert.isUndefined(await read(gone))
    for (const id of [recent, waiting]) assert.strictEqual((await read(id)).id, id)
  })

  it("deletes many webhooks in two concurrent runs", async () => {
    const { id, tenant } = await createIntegration()
    await pool.query(
      `insert into inbound_webhooks (tenant_id, id, integration_id, identifier, kind, issue_id, issue_key, happened_at,
         body, status, received_at, processed_at)
       select $1, 'whk_many' || n, $2, n, 'jira:issue_updated', '1', 'A-1', 1, '{}', 'DONE', at, at
       from generate_series(1, 2500) n, (select now() - interval '40 days' as at) times`,
      [tenant, id]
    )
    await Promise.all([runJanitorOnce(service), runJanitorOnce(service)])
    const { rows } = await pool.query("select 1 from inbound_webhooks where tenant_id = $1", [tenant])
    assert.lengthOf(rows, 0)
  })

  it("keeps identifiers for three days to reject duplicates, however short the retention", async () => {
    const { call, id, key } = await createIntegration()
    const send = async () =>
      assertAccepted(await jiraSender(service).send(key, makeWebhookBody("created"), { identifier: "the same" }))
    const setProcessed = (days: number) =>
      pool.query(
        `update inbound_webhooks set status = 'DONE', received_at = $2, processed_at = $2 where integration_id = $1`,
        [id, daysAgo(days)]
      )
    const listIds = async () => (await call("GET", "/inbound")).body.data.map((one: { id: string }) => one.id)
    await send()
    const [first] = await listIds()
    await setProcessed(2.9)
    await runJanitorOnce(service, { EVENT_RETENTION_DAYS: "0", PAYLOAD_RETENTION_DAYS: "0" })
    await send()
    assert.deepStrictEqual(await listIds(), [first])
    await setProcessed(3.1)
    await runJanitorOnce(service, { EVENT_RETENTION_DAYS: "0" })
    assert.deepStrictEqual(await listIds(), [])
  })

  it("deletes expired webhook endpoints and no others", async () => {
    const { call, id, tenant, webhookUrl } = await createIntegration()
    const keys = [webhookKeyOf(webhookUrl)]
    for (const overlapHours of [1, 1]) {
      const { body } = await call("POST", "/rotate-secret", { overlapHours })
      keys.push(webhookKeyOf(body.data.webhookUrl))
    }
    const [first] = keys
    await pool.query(
      `update webhook_endpoints set expires_at = now() - interval '1 second'
       where integration_id = $1 and key_hash = sha256($2::bytea)`,
      [id, first]
    )
    await runJanitorOnce(service)
    const { rows } = await pool.query(
      `select 1 from webhook_endpoints
       where tenant_id = $1 and key_hash = any (select sha256(key::bytea) from unnest($2::text[]) key)`,
      [tenant, keys]
    )
    assert.lengthOf(rows, 2)
    const refused = await jiraSender(service).send(first ?? "", makeWebhookBody("created"))
    assert.strictEqual(refused.status, 404)
  })
})
