import { Effect } from "effect"
import type pg from "pg"
import { withProgress } from "../../tools/local/ConsoleProgress.ts"
import { vacuumAndCheckpoint } from "../database.ts"
import { connections } from "../load.ts"
import { alternate } from "../support/alternation.ts"
import { runConcurrently } from "../support/pacing.ts"
import { deleteInboundWebhooks, type JiraIntegration } from "./jiraIntegration.ts"
import type { WebhookTarget } from "./targets.ts"
import { makeWebhooks } from "./webhooks.ts"

const webhookCount = 4000
const issueCount = 200

/** Accepted webhooks per second at full load. */
export interface IntakeThroughput {
  readonly target: string
  readonly perSecond: number
  readonly failures: number
}

const sendWebhooks = async ({ name, send }: WebhookTarget): Promise<IntakeThroughput> => {
  const webhooks = await makeWebhooks(webhookCount, issueCount)
  let failures = 0
  const startedAt = performance.now()
  await runConcurrently(webhookCount, connections, async (n) => {
    const webhook = webhooks[n]
    if (webhook === undefined || !(await send(webhook))) failures++
  })
  return { target: name, perSecond: webhookCount / ((performance.now() - startedAt) / 1000), failures }
}

/** The integration is paused, so that no worker competes for the machine. */
export const measureIntakeThroughput = (
  client: pg.Client,
  pausedIntegration: JiraIntegration,
  targets: ReadonlyArray<WebhookTarget>,
  rounds: number
): Effect.Effect<ReadonlyArray<IntakeThroughput>> =>
  alternate(targets, rounds, (target, round) =>
    withProgress(
      `Throughput: ${target.name}`,
      Effect.promise(() => sendWebhooks(target)),
      ({ perSecond, target }) => `${round} of ${rounds}, ${target}: ${perSecond.toFixed(0)}/s`
    ).pipe(
      Effect.zipLeft(deleteInboundWebhooks(client, pausedIntegration)),
      Effect.zipLeft(vacuumAndCheckpoint(client))
    )
  )
