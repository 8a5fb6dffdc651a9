import { Effect } from "effect"
import { TrackerUpkeep } from "../../layers/integrations/jiraWebhooks/TrackerUpkeep.ts"
import { forEver } from "../ForEver.ts"

const pause = "2 seconds"
const greetingsPerRound = 30

/** Keeps what trackers tell us registered with them. Of several copies one does so. */
export const keepTrackers = Effect.gen(function* () {
  const upkeep = yield* TrackerUpkeep
  yield* Effect.addFinalizer(() => Effect.ignoreLogged(upkeep.resign))
  const greetings = Effect.repeatN(Effect.zipRight(Effect.sleep(pause), upkeep.greet), greetingsPerRound - 1)
  yield* Effect.forkScoped(forEver("Looking after trackers", Effect.zipRight(upkeep.round, greetings)))
})
