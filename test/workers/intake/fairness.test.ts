import { assert, describe, it } from "vitest"
import { startServiceWithIntake } from "../../support/fixtures/billableIssues.ts"
import { insertAuthorization } from "../../support/fixtures/issueRows.ts"
import { makeWebhookBody } from "../../support/fixtures/jiraWebhookBody.ts"
import { assertAccepted, jiraSender } from "../../support/fixtures/jiraWebhooks.ts"
import { lockRow } from "../../support/fixtures/rowLock.ts"
import { useFixture } from "../../support/fixtures/useFixture.ts"
import { eventually } from "../../support/servers/worker.ts"

describe("The intake worker", () => {
  const at = useFixture(startServiceWithIntake)

  const createIntegration = async () => {
    const { pool, service } = at()
    const tenant = await service.newTenant()
    const { id, key } = await jiraSender(service).createIntegration(tenant)
    await insertAuthorization(pool, id, 1007)
    const sendWebhook = async (issue: string, timestamp: number) =>
      assertAccepted(
        await jiraSender(service).send(key, makeWebhookBody("updated", { id: issue, key: `A-${issue}`, timestamp }))
      )
    const countReceived = async () => {
      const { rows } = await pool.query(
        "select 1 from inbound_webhooks where integration_id = $1 and status = 'RECEIVED'",
        [id]
      )
      return rows.length
    }
    return { id, sendWebhook, countReceived }
  }

  it("processes webhooks of other tenants while the issue of one tenant is locked", { timeout: 60_000 }, async () => {
    const [locked, free] = [await createIntegration(), await createIntegration()]
    await locked.sendWebhook("1", 1)
    await eventually(async () => (await locked.countReceived()) === 0, "the issue is stored")
    const lock = await lockRow(
      at().pool,
      "select 1 from tracked_issues where integration_id = $1 for update",
      locked.id
    )
    await locked.sendWebhook("1", 2)
    for (let issue = 1; issue <= 5; issue++) await free.sendWebhook(`${issue}`, 1)
    await eventually(async () => (await free.countReceived()) === 0, "the webhooks of the other tenant are processed")
    assert.strictEqual(await locked.countReceived(), 1, "the webhook of the locked issue waits")
    await lock.release()
    await eventually(
      async () => (await locked.countReceived()) === 0,
      "the webhook of the locked issue is processed after the unlock"
    )
  })
})
