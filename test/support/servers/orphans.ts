import { join } from "node:path"
import { Effect } from "effect"
import { lockDataDir } from "../../../tools/local/DataDir.ts"
import { stopOrphanedNats } from "../../../tools/local/nats/NatsServer.ts"
import { stopOrphanedPostgres } from "../../../tools/local/postgres/Postgres.ts"

/** Stops the servers that a killed process left in its data folder. Fails while that process runs. */
export const stopOrphans = (folder: string) =>
  lockDataDir(folder).pipe(
    Effect.zipRight(stopOrphanedPostgres(join(folder, "postgres", "data"))),
    Effect.zipRight(stopOrphanedNats(join(folder, "nats"))),
    Effect.scoped
  )
