import { mkdtempSync, readdirSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { Effect } from "effect"
import { lockDataDir } from "../tools/local/DataDir.ts"
import { stopOrphanedNats } from "../tools/local/nats/NatsServer.ts"
import { stopOrphanedPostgres } from "../tools/local/postgres/Postgres.ts"

const prefix = "contracting-bench-"

export const postgresFolderIn = (folder: string) => join(folder, "postgres")
export const natsFolderIn = (folder: string) => join(folder, "nats")

const removeFolder = (folder: string) => Effect.sync(() => rmSync(folder, { recursive: true, force: true }))

/** Stops the servers of a killed bench and removes its folder. A running bench holds the lock of its folder. */
const cleanUpFolder = (folder: string) =>
  lockDataDir(folder).pipe(
    Effect.zipRight(stopOrphanedPostgres(join(postgresFolderIn(folder), "data"))),
    Effect.zipRight(stopOrphanedNats(natsFolderIn(folder))),
    Effect.scoped,
    Effect.zipRight(removeFolder(folder)),
    Effect.ignore
  )

const cleanUpOrphans = Effect.suspend(() => {
  const names = readdirSync(tmpdir()).filter((name) => name.startsWith(prefix))
  return Effect.forEach(names, (name) => cleanUpFolder(join(tmpdir(), name)))
})

/** A folder of this run. Removes folders that killed runs have left. */
export const temporaryFolder = Effect.zipRight(
  cleanUpOrphans,
  Effect.acquireRelease(
    Effect.sync(() => mkdtempSync(join(tmpdir(), prefix))),
    removeFolder
  )
).pipe(Effect.flatMap(lockDataDir))
