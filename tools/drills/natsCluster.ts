import { mkdirSync, readFileSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { Effect } from "effect"
import type { NatsProgram } from "../local/nats/NatsPrograms.ts"
import { startNats } from "../local/nats/NatsServer.ts"
import { chooseStablePort, localhost } from "../local/Ports.ts"

const names = ["n1", "n2", "n3"] as const

/** The servers of a cluster: how to start each, and the file with its pid. */
export const prepareNatsCluster = (folder: string, program: NatsProgram) =>
  Effect.gen(function* () {
    const ports = yield* Effect.forEach(names, (name) => {
      mkdirSync(join(folder, name), { recursive: true })
      return chooseStablePort(join(folder, name, "cluster-port"))
    })
    const routes = ports.map((port) => `nats://${localhost}:${port}`).join(", ")
    return names.map((name, n) => {
      const configFile = join(folder, name, "nats.conf")
      const cluster = `name: contracting, listen: "${localhost}:${ports[n]}", routes: [${routes}]`
      writeFileSync(configFile, `server_name: ${name}\ncluster { ${cluster} }\n`)
      const store = join(folder, name, "store")
      return {
        name,
        pidFile: join(store, "nats-server.pid"),
        start: startNats({ folder: store, logFile: join(folder, `${name}.log`), program, configFile })
      }
    })
  })

const pidIn = (file: string) => Number.parseInt(readFileSync(file, "utf8"), 10)

const isRunning = (file: string) => {
  try {
    return process.kill(pidIn(file), 0)
  } catch {
    return false
  }
}

/** Kills one server after the other, for ever. Their supervisors start them again: the next waits for that. */
export const killInTurn = (pidFiles: ReadonlyArray<string>, intervalMs: number) => {
  const untilAllRun = Effect.sleep("100 millis").pipe(Effect.repeat({ until: () => pidFiles.every(isRunning) }))
  const killOne = (file: string) =>
    Effect.zipRight(
      Effect.delay(untilAllRun, intervalMs),
      Effect.sync(() => process.kill(pidIn(file), "SIGKILL"))
    )
  return Effect.forever(Effect.forEach(pidFiles, killOne))
}
