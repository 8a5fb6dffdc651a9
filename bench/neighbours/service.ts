import { Effect } from "effect"
import { workerNames } from "../../src/workers/registry.ts"
import { connectDatabase } from "../database.ts"
import { createDatabase } from "../infrastructure.ts"
import type { BenchEnvironment } from "../servers.ts"
import { startProcesses } from "../support/processes.ts"

/** Starts every process of the service, with a database and streams of its own. */
export const startService = (
  environment: BenchEnvironment,
  namespace: string,
  profile: string | undefined,
  settings: NodeJS.ProcessEnv = {}
) =>
  Effect.gen(function* () {
    const client = yield* connectDatabase(environment.infrastructure.databaseUrl)
    const databaseUrl = yield* createDatabase(client, environment.infrastructure, namespace)
    const infrastructure = { ...environment.infrastructure, databaseUrl }
    const extraEnv = { DELIVERY_ALLOW: "127.0.0.0/8", NATS_NAMESPACE: namespace, ...settings }
    const { api } = yield* startProcesses({ ...environment, infrastructure }, profile, {
      workers: workerNames,
      extraEnv
    })
    return { api, client: yield* connectDatabase(databaseUrl), namespace }
  })
