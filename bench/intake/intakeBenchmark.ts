import { Effect } from "effect"
import { printLine, withProgress } from "../../tools/local/ConsoleProgress.ts"
import { connectDatabase } from "../database.ts"
import type { Options } from "../options.ts"
import { describeMachine } from "../report.ts"
import type { BenchEnvironment } from "../servers.ts"
import { createBenchTenant } from "../support/benchTenant.ts"
import { formatCpuTable, withCpuShares } from "../support/cpuShares.ts"
import { startProcesses } from "../support/processes.ts"
import { measureBacklogs } from "./backlog.ts"
import { formatBacklogTable, formatLatencyTable, formatThroughputTable } from "./intakeReport.ts"
import { createJiraIntegration } from "./jiraIntegration.ts"
import { measureIntakeLatency } from "./latency.ts"
import { connectInsertTarget, connectServiceTarget } from "./targets.ts"
import { measureIntakeThroughput } from "./throughput.ts"
import { clientSecret } from "./webhooks.ts"

const processOptions = {
  workers: ["relay", "delivery", "intake"],
  extraEnv: { JIRA_CLIENT_ID: "bench", JIRA_CLIENT_SECRET: clientSecret, PUBLIC_URL: "https://contracting.example" }
} as const

/** An active and a paused integration of one tenant, with the targets that receive their webhooks. */
const startFixture = (environment: BenchEnvironment, token: string, profile: string | undefined) =>
  Effect.gen(function* () {
    const { databaseUrl } = environment.infrastructure
    const client = yield* connectDatabase(databaseUrl)
    const { api, processes } = yield* startProcesses(environment, profile, processOptions)
    const tenant = yield* Effect.acquireRelease(
      Effect.promise(() => createBenchTenant(api, token)),
      ({ close }) => Effect.promise(close)
    )
    const activeIntegration = yield* Effect.promise(() => createJiraIntegration(client, tenant))
    const pausedIntegration = yield* Effect.promise(() => createJiraIntegration(client, tenant))
    yield* Effect.promise(() => tenant.pause(pausedIntegration.id))
    const pausedTarget = yield* connectServiceTarget(api, pausedIntegration)
    const insertTarget = yield* connectInsertTarget(databaseUrl, pausedIntegration)
    return {
      client,
      processes,
      tenant,
      activeIntegration,
      pausedIntegration,
      pausedTarget,
      insertTarget,
      activeTarget: yield* connectServiceTarget(api, activeIntegration)
    }
  })

/** Measures how fast Jira webhooks are accepted and processed. Returns how many were rejected. */
export const measureIntake = (environment: BenchEnvironment, token: string, { part, profile, rounds }: Options) =>
  Effect.gen(function* () {
    const start = startFixture(environment, token, profile)
    const fixture = yield* withProgress("Starting api, relay, delivery and intake", start, () => "Processes ready")
    const { activeTarget, insertTarget, client, pausedIntegration, activeIntegration, processes, pausedTarget } =
      fixture
    const parts = [
      {
        name: "latency",
        measure: Effect.map(
          measureIntakeLatency(client, activeIntegration, [activeTarget, insertTarget], rounds),
          (rounds) => ({
            table: formatLatencyTable(rounds),
            failures: rounds.map(({ failures }) => failures)
          })
        )
      },
      {
        name: "throughput",
        measure: Effect.map(
          measureIntakeThroughput(client, pausedIntegration, [pausedTarget, insertTarget], rounds),
          (rounds) => ({
            table: formatThroughputTable(rounds),
            failures: rounds.map(({ failures }) => failures)
          })
        )
      },
      {
        name: "backlog",
        measure: Effect.map(measureBacklogs(fixture, rounds), (rounds) => ({
          table: formatBacklogTable(rounds),
          failures: [0]
        }))
      }
    ]
    const results = yield* Effect.forEach(
      parts.filter(({ name }) => name.includes(part)),
      ({ measure, name }) => withCpuShares(processes, name, measure)
    )
    const tables = [
      ...results.map(({ result }) => result.table),
      formatCpuTable(results.flatMap(({ cpuShares }) => cpuShares))
    ]
    yield* printLine(`\n${[describeMachine(environment.infrastructure.postgresDescription), ...tables].join("\n\n")}\n`)
    return results.flatMap(({ result }) => result.failures).reduce((sum, one) => sum + one, 0)
  })
