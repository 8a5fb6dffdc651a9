import { Effect } from "effect"
import type pg from "pg"
import { printLine, withProgress } from "../../tools/local/ConsoleProgress.ts"
import { connectDatabase } from "../database.ts"
import { createDatabase } from "../infrastructure.ts"
import { measureCandidates } from "../measurement.ts"
import type { Options } from "../options.ts"
import { describeMachine } from "../report.ts"
import type { Row } from "../row.ts"
import type { Server } from "../serverProcess.ts"
import { type BenchEnvironment, startService } from "../servers.ts"
import type { TokenOf } from "../tokenIssuer.ts"
import { insertTenants, rowsPerTenant } from "./dataset.ts"
import { makeReadRows, selectProjectRefs } from "./readRows.ts"
import { formatScaleTable, formatStatementTable } from "./scaleReport.ts"
import { measureStatementCosts, type StatementCost } from "./statementCosts.ts"

const tenantCounts = { small: 10, large: 1000 }

interface ScaleSide {
  readonly projectCount: number
  readonly server: Server
  readonly rows: ReadonlyArray<Row>
  readonly statementCosts: ReadonlyArray<StatementCost>
}

/** Fills a database, starts a service on it and measures its statements. */
const startSide = (client: pg.Client, environment: BenchEnvironment, name: keyof typeof tenantCounts) =>
  Effect.gen(function* () {
    const databaseUrl = yield* createDatabase(client, environment.infrastructure, name)
    const database = yield* connectDatabase(databaseUrl)
    yield* insertTenants(database, 1, tenantCounts[name])
    const start = startService(
      { ...environment, infrastructure: { ...environment.infrastructure, databaseUrl } },
      undefined,
      name
    )
    const server = yield* withProgress(`Starting the service over the ${name} database`, start, () => "Service ready")
    const refs = yield* selectProjectRefs(database)
    const statementCosts = yield* withProgress(
      "Explaining the statements",
      measureStatementCosts(database, refs),
      () => "Statements explained"
    )
    return {
      projectCount: tenantCounts[name] * rowsPerTenant.projects,
      server,
      rows: makeReadRows(refs),
      statementCosts
    } satisfies ScaleSide
  })

/** Alternates the same reads between a small database and one a hundred times as large. */
export const measureScale = (environment: BenchEnvironment, tokenOf: TokenOf, options: Options) =>
  Effect.gen(function* () {
    const client = yield* connectDatabase(environment.infrastructure.databaseUrl)
    const sides = [
      yield* startSide(client, environment, "small"),
      yield* startSide(client, environment, "large")
    ] as const
    const results = yield* Effect.forEach(sides[0].rows, (_, n) =>
      measureCandidates(
        sides.flatMap(({ rows, server }) => rows.slice(n, n + 1).map((row) => ({ row, server }))),
        tokenOf,
        options
      )
    )
    const [small, large] = sides.map(({ projectCount, server, statementCosts }) => ({
      projectCount,
      statementCosts,
      results: results.flat().filter((result) => result.server === server.name)
    }))
    if (small === undefined || large === undefined) return []
    yield* printLine(
      `\n${describeMachine(environment.infrastructure.postgresDescription)}\n\n${formatScaleTable(small, large)}\n\n${formatStatementTable(small, large)}\n`
    )
    return [...small.results, ...large.results]
  })
