import { Effect, Layer } from "effect"
import { assert, describe, it } from "vitest"
import { Settings } from "../../../src/layers/infra/config/Settings.ts"
import { Broker } from "../../../src/layers/infra/nats/Broker.ts"
import { SqlLive } from "../../../src/layers/infra/postgres/connection/PostgresClient.ts"
import { InboundProcessor } from "../../../src/layers/trackers/InboundProcessor.ts"
import { IntakeMetrics } from "../../../src/layers/trackers/IntakeMetrics.ts"
import { processOverdue } from "../../../src/workers/intake/Intake.ts"
import { makeIssueProcessor } from "../../../src/workers/intake/IssueProcessor.ts"
import { insertAuthorization } from "../../support/fixtures/issueRows.ts"
import { makeWebhookBody } from "../../support/fixtures/jiraWebhookBody.ts"
import { assertAccepted, jiraSender, jiraSettings } from "../../support/fixtures/jiraWebhooks.ts"
import { useFixture } from "../../support/fixtures/useFixture.ts"
import { startServiceWithTenant } from "../../support/servers/serviceWithPool.ts"

const issueCount = 120

describe("A backlog of one integration", () => {
  const at = useFixture(() => startServiceWithTenant(jiraSettings))

  it("is processed without a pause, although each search returns only a part of it", async () => {
    const { pool, service, tenant } = at()
    const { id, key } = await jiraSender(service).createIntegration(tenant)
    await insertAuthorization(pool, id, 1007)
    for (let issue = 0; issue < issueCount; issue++)
      assertAccepted(await jiraSender(service).send(key, makeWebhookBody("updated", { id: `${issue}`, timestamp: 1 })))
    await pool.query("update inbound_webhooks set received_at = '2020-01-01' where integration_id = $1", [id])
    const countReceived = async () => {
      const { rows } = await pool.query("select from inbound_webhooks where status = 'RECEIVED'")
      return rows.length
    }
    assert.strictEqual(await countReceived(), issueCount)

    const live = Layer.mergeAll(InboundProcessor.Default, IntakeMetrics.Default, Broker.Default).pipe(
      Layer.provide(SqlLive),
      Layer.provide(Layer.succeed(Settings, service.settings))
    )
    const untilIdle = Effect.gen(function* () {
      const processIssues = yield* makeIssueProcessor
      return yield* Effect.repeat(processOverdue(processIssues), { while: (hasProcessed) => hasProcessed })
    })
    await Effect.runPromise(Effect.provide(untilIdle, live))
    assert.strictEqual(await countReceived(), 0)
  })
})
