import { assert, describe, it } from "vitest"
import { startServiceWithIntake } from "../../support/fixtures/billableIssues.ts"
import { insertAuthorization } from "../../support/fixtures/issueRows.ts"
import { makeWebhookBody } from "../../support/fixtures/jiraWebhookBody.ts"
import { assertAccepted, jiraSender } from "../../support/fixtures/jiraWebhooks.ts"
import { lockRow } from "../../support/fixtures/rowLock.ts"
import { useFixture } from "../../support/fixtures/useFixture.ts"
import { eventually } from "../../support/servers/worker.ts"

describe("the intake worker", () => {
  const at = useFixture(startServiceWithIntake)

  const connected = async () => {
    const { pool, service } = at()
    const tenant = await service.newTenant()
    const { id, key } = await jiraSender(service).made(tenant)
    await insertAuthorization(pool, id, 1007)
    const tell = async (issue: string, timestamp: number) =>
      assertAccepted(
        await jiraSender(service).send(key, makeWebhookBody("updated", { id: issue, key: `A-${issue}`, timestamp }))
      )
    const waiting = async () => {
      const { rows } = await pool.query(
        "select 1 from inbound_webhooks where integration_id = $1 and status = 'RECEIVED'",
        [id]
      )
      return rows.length
    }
    return { id, tell, waiting }
  }

  it("lets nobody wait for a tenant whose issue is locked", { timeout: 60_000 }, async () => {
    const [locked, free] = [await connected(), await connected()]
    await locked.tell("1", 1)
    await eventually(async () => (await locked.waiting()) === 0, "the issue is known")
    const held = await lockRow(
      at().pool,
      "select 1 from tracked_issues where integration_id = $1 for update",
      locked.id
    )
    await locked.tell("1", 2)
    for (let issue = 1; issue <= 5; issue++) await free.tell(`${issue}`, 1)
    await eventually(async () => (await free.waiting()) === 0, "the others are worked")
    assert.strictEqual(await locked.waiting(), 1, "while it is locked")
    await held.release()
    await eventually(async () => (await locked.waiting()) === 0, "and then it is worked as well")
  })
})
