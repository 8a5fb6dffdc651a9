import { Effect } from "effect"
import { TrackerUpkeep } from "../../layers/integrations/jiraWebhooks/TrackerUpkeep.ts"
import { forEver } from "../ForEver.ts"

const newIntegrationInterval = "2 seconds"
const checksPerRound = 30

/**
 * Keeps our webhooks registered in Jira. Of several janitors only the leader does this. New integrations do not wait
 * for a round.
 */
export const keepTrackers = Effect.gen(function* () {
  const reconciler = yield* TrackerUpkeep
  yield* Effect.addFinalizer(() => Effect.ignoreLogged(reconciler.resign))
  const registerNew = Effect.repeatN(
    Effect.zipRight(Effect.sleep(newIntegrationInterval), reconciler.greet),
    checksPerRound - 1
  )
  yield* Effect.forkScoped(forEver("Jira webhook reconciliation", Effect.zipRight(reconciler.round, registerNew)))
})
