import { Effect } from "effect"
import type pg from "pg"
import { withProgress } from "../../tools/local/ConsoleProgress.ts"
import { vacuumAndCheckpoint } from "../database.ts"
import { connections } from "../load.ts"
import type { BenchTenant } from "../support/benchTenant.ts"
import { runConcurrently } from "../support/pacing.ts"
import { countUnprocessed, type JiraIntegration, waitUntilProcessed } from "./jiraIntegration.ts"
import type { WebhookTarget } from "./targets.ts"
import { makeWebhooks } from "./webhooks.ts"

const webhookCount = 3000
/** One webhook per issue, ten per issue, and all of one issue. */
const issueCounts = [webhookCount, 300, 1]

/** The rate at which the backlog of an integration is processed. */
export interface BacklogResult {
  readonly queued: number
  readonly issueCount: number
  readonly perSecond: number
}

interface BacklogFixture {
  readonly client: pg.Client
  readonly tenant: BenchTenant
  readonly pausedIntegration: JiraIntegration
  readonly pausedTarget: WebhookTarget
}

const fillBacklog = async ({ client, pausedIntegration, pausedTarget }: BacklogFixture, issueCount: number) => {
  const webhooks = await makeWebhooks(webhookCount, issueCount)
  await runConcurrently(
    webhookCount,
    connections,
    async (n) => webhooks[n] !== undefined && pausedTarget.send(webhooks[n])
  )
  return countUnprocessed(client, pausedIntegration)
}

const processBacklog = ({ client, pausedIntegration, tenant }: BacklogFixture, issueCount: number, queued: number) =>
  Effect.gen(function* () {
    const startedAt = performance.now()
    yield* Effect.promise(() => tenant.resume(pausedIntegration.id))
    yield* waitUntilProcessed(client, pausedIntegration)
    const seconds = (performance.now() - startedAt) / 1000
    yield* Effect.promise(() => tenant.pause(pausedIntegration.id))
    return { queued, issueCount, perSecond: queued / seconds } satisfies BacklogResult
  })

/** Measures from the resumption of an integration until its backlog is processed. */
export const measureBacklogs = (fixture: BacklogFixture, rounds: number) =>
  Effect.forEach(
    Array.from({ length: rounds }).flatMap(() => issueCounts),
    (issueCount) =>
      Effect.gen(function* () {
        const fill = Effect.promise(() => fillBacklog(fixture, issueCount))
        const queued = yield* withProgress("Filling the backlog", fill, (queued) => `${queued} queued`)
        yield* vacuumAndCheckpoint(fixture.client)
        const process = processBacklog(fixture, issueCount, queued)
        return yield* withProgress(
          "Processing the backlog",
          process,
          ({ perSecond }) => `${perSecond.toFixed(0)}/s of ${issueCount} issues`
        )
      })
  )
