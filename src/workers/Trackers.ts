import { Effect } from "effect"
import { TrackerUpkeep } from "../layers/providers/tracker/TrackerUpkeep.ts"
import { forEver } from "./ForEver.ts"

const every = "1 minute"

/** Keeps what trackers tell us registered with them. Of several copies one does so. */
export const keepTrackers = Effect.gen(function* () {
  const upkeep = yield* TrackerUpkeep
  yield* Effect.addFinalizer(() => Effect.ignoreLogged(upkeep.resign))
  yield* Effect.forkScoped(forEver("Looking after trackers", Effect.zipRight(upkeep.round, Effect.sleep(every))))
})
