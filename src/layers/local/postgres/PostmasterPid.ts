import { existsSync, readFileSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { Effect } from "effect"
import { tryFileAccess } from "../FileAccess.ts"
import { stopOrphan } from "../process/OrphanProcess.ts"

/** Fast shutdown, which aborts the sessions; then immediate shutdown, which needs crash recovery at the next start. */
export const postgresStopSignals = [
  ["SIGINT", "20 seconds"],
  ["SIGQUIT", "5 seconds"]
] as const

/**
 * Prepares a data folder whose last server was killed. It stops a server that is still running. PostgreSQL refuses to
 * start when the pid in postmaster.pid belongs to another process by now, so our pid replaces it: PostgreSQL treats its
 * parent's pid as stale. Do not remove the file instead: that skips the check for surviving backends of the old server.
 */
export const stopOrphanedPostgres = (data: string) =>
  Effect.gen(function* () {
    const file = join(data, "postmaster.pid")
    const read = () => (existsSync(file) ? readFileSync(file, "utf8").split("\n") : [])
    const pid = Number.parseInt((yield* tryFileAccess(file, read))[0] ?? "", 10)
    if (Number.isNaN(pid)) return
    yield* stopOrphan({ name: "PostgreSQL", pid, mark: `postgres -D ${data}`, stop: postgresStopSignals })
    yield* tryFileAccess(file, () => {
      const [first, ...rest] = read()
      if (first !== undefined) writeFileSync(file, [process.pid, ...rest].join("\n"))
    })
  })
