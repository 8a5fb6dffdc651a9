import { existsSync, readFileSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { Effect } from "effect"
import { onDisk } from "../Disk.ts"
import { endOrphan } from "../process/ForeignProcess.ts"

/** Fast shutdown: sessions are cut off, everything committed is kept. Then the immediate one, which recovers at start. */
export const postgresStop = [
  ["SIGINT", "20 seconds"],
  ["SIGQUIT", "5 seconds"]
] as const

/**
 * Makes a data folder startable after its last server was killed. A server that is still at work is stopped. A pid
 * that meanwhile belongs to another process would make PostgreSQL refuse: it is replaced by ours, which PostgreSQL
 * takes for stale because it is its parent's. Removing the file instead would also skip its check for surviving
 * sessions of the old server.
 */
export const clearTheWay = (data: string) =>
  Effect.gen(function* () {
    const file = join(data, "postmaster.pid")
    const read = () => (existsSync(file) ? readFileSync(file, "utf8").split("\n") : [])
    const pid = Number.parseInt((yield* onDisk(file, read))[0] ?? "", 10)
    if (Number.isNaN(pid)) return
    yield* endOrphan({ name: "PostgreSQL", pid, mark: `postgres -D ${data}`, stop: postgresStop })
    yield* onDisk(file, () => {
      const [first, ...rest] = read()
      if (first !== undefined) writeFileSync(file, [process.pid, ...rest].join("\n"))
    })
  })
