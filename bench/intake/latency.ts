import { Effect } from "effect"
import type pg from "pg"
import { withProgress } from "../../tools/local/ConsoleProgress.ts"
import { vacuumAndCheckpoint } from "../database.ts"
import { alternate } from "../support/alternation.ts"
import { formatLatencies, type LatencySummary, summarizeLatencies } from "../support/latencySummary.ts"
import { runAtRate } from "../support/pacing.ts"
import { countUnprocessed, type JiraIntegration, waitUntilProcessed } from "./jiraIntegration.ts"
import type { WebhookTarget } from "./targets.ts"
import { makeWebhooks } from "./webhooks.ts"

export const webhooksPerSecond = 300
const issueCount = 200
/** The JIT needs this long; before, the processes are several times slower. */
const warmUpSeconds = 15
const seconds = 10

/** Response times of webhooks, counted from when each was due. */
export interface IntakeLatency extends LatencySummary {
  readonly target: string
  readonly perSecond: number
  readonly failures: number
  /** Webhooks still unprocessed after the last response. */
  readonly unprocessed: number
}

const measureRound = async (
  client: pg.Client,
  integration: JiraIntegration,
  { name, send }: WebhookTarget,
  seconds: number
): Promise<IntakeLatency> => {
  const webhooks = (await makeWebhooks(webhooksPerSecond * seconds, issueCount)).values()
  const latencies: Array<number> = []
  let failures = 0
  const sent = await runAtRate(webhooksPerSecond, seconds, async (dueAt) => {
    const { value } = webhooks.next()
    const isAccepted = value !== undefined && (await send(value))
    latencies.push(performance.now() - dueAt)
    if (!isAccepted) failures++
  })
  const unprocessed = await countUnprocessed(client, integration)
  return { target: name, ...summarizeLatencies(latencies), perSecond: sent.perSecond, failures, unprocessed }
}

/** Sends webhooks at a constant rate to alternating targets. */
export const measureIntakeLatency = (
  client: pg.Client,
  integration: JiraIntegration,
  targets: ReadonlyArray<WebhookTarget>,
  rounds: number
): Effect.Effect<ReadonlyArray<IntakeLatency>> =>
  Effect.gen(function* () {
    const label = `${webhooksPerSecond} webhooks/s`
    const measureTarget = (target: WebhookTarget, seconds: number) =>
      Effect.zipLeft(
        Effect.promise(() => measureRound(client, integration, target, seconds)),
        waitUntilProcessed(client, integration)
      )
    const warmUp = Effect.forEach(targets, (target) => measureTarget(target, warmUpSeconds))
    yield* withProgress(`${label}: warming up`, warmUp, () => `${label}: warmed up`)
    yield* vacuumAndCheckpoint(client)
    return yield* alternate(targets, rounds, (target, round) =>
      withProgress(
        `${label}: ${target.name}`,
        measureTarget(target, seconds),
        (result) => `${round} of ${rounds}, ${result.target}: ${formatLatencies(result)}`
      )
    )
  })
