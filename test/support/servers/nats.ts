import { mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { Effect, Exit, Scope } from "effect"
import { findNatsProgram } from "../../../tools/local/nats/NatsPrograms.ts"
import { startNats } from "../../../tools/local/nats/NatsServer.ts"

/** A NATS server that a test can stop and restart at the same address. */
export const startNatsServer = async (config?: (folder: string) => string) => {
  const folder = mkdtempSync(join(tmpdir(), "contracting-nats-"))
  const configFile = join(folder, "nats.conf")
  if (config !== undefined) writeFileSync(configFile, config(folder))
  let scope: Scope.CloseableScope | undefined

  const start = async () => {
    const newScope = Effect.runSync(Scope.make())
    scope = newScope
    const starting = Effect.flatMap(findNatsProgram(process.env["NATS_SERVER_BIN"]), (program) =>
      startNats({
        folder: join(folder, "nats"),
        logFile: join(folder, "log"),
        program,
        ...(config === undefined ? {} : { configFile })
      })
    )
    return (await Effect.runPromise(Scope.extend(starting, newScope))).url
  }
  const stop = async () => {
    if (scope !== undefined) await Effect.runPromise(Scope.close(scope, Exit.void))
    scope = undefined
  }

  return {
    folder,
    url: await start(),
    start,
    stop,
    /** Deletes the stored messages. Stop the server first. */
    wipe: () => rmSync(join(folder, "nats", "jetstream"), { recursive: true }),
    remove: async () => {
      await stop()
      rmSync(folder, { recursive: true, force: true })
    }
  }
}

export type NatsServer = Awaited<ReturnType<typeof startNatsServer>>
