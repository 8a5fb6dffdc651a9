import { join } from "node:path"
import { Effect } from "effect"
import { claimDataDir } from "../../src/layers/local/DataDir.ts"
import { endForerunner } from "../../src/layers/local/nats/NatsServer.ts"
import { clearTheWay } from "../../src/layers/local/postgres/PostmasterPid.ts"

/** Ends the servers that a killed process left at work in its data folder. Fails when that process still lives. */
export const endLeftovers = (folder: string) =>
  claimDataDir(folder).pipe(
    Effect.zipRight(clearTheWay(join(folder, "postgres", "data"))),
    Effect.zipRight(endForerunner(join(folder, "nats"))),
    Effect.scoped
  )
