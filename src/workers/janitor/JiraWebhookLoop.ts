import { Effect } from "effect"
import { JiraWebhookReconciler } from "../../layers/integrations/jiraWebhooks/JiraWebhookReconciler.ts"
import { runForever } from "../RunForever.ts"

const newIntegrationInterval = "2 seconds"
const checksPerRound = 30

/**
 * Keeps our webhooks registered in Jira. Of several janitors only the leader does this. New integrations do not wait
 * for a round.
 */
export const startJiraWebhookReconciler = Effect.gen(function* () {
  const reconciler = yield* JiraWebhookReconciler
  yield* Effect.addFinalizer(() => Effect.ignoreLogged(reconciler.releaseLease))
  const registerNew = Effect.repeatN(
    Effect.zipRight(Effect.sleep(newIntegrationInterval), reconciler.registerNew),
    checksPerRound - 1
  )
  yield* Effect.forkScoped(
    runForever("Jira webhook reconciliation", Effect.zipRight(reconciler.reconcileAll, registerNew))
  )
})
