import { Effect } from "effect"
import type pg from "pg"
import { printLine, withProgress } from "../../src/layers/local/ConsoleProgress.ts"
import { connected } from "../database.ts"
import { measure } from "../measure.ts"
import type { Options } from "../options.ts"
import { machine } from "../report.ts"
import type { Row } from "../row.ts"
import type { Server } from "../serverProcess.ts"
import { type Setting, startService } from "../servers.ts"
import { createDatabase } from "../stage.ts"
import { type Effort, efforts } from "./effort.ts"
import { grow, perTenant } from "./grow.ts"
import { places, rowsFor } from "./reads.ts"
import { effortTable, scaleTable } from "./scaleReport.ts"

/** How many tenants there are in each of the databases that are compared. */
const sizes = { small: 10, large: 1000 }

interface Side {
  readonly projects: number
  readonly server: Server
  readonly rows: ReadonlyArray<Row>
  readonly efforts: ReadonlyArray<Effort>
}

/** A database of this many tenants, a service over it, and what to ask it for. */
const side = (client: pg.Client, setting: Setting, name: keyof typeof sizes) =>
  Effect.gen(function* () {
    const databaseUrl = yield* createDatabase(client, setting.stage, name)
    const own = yield* connected(databaseUrl)
    yield* grow(own, 1, sizes[name])
    const starting = startService({ ...setting, stage: { ...setting.stage, databaseUrl } }, undefined, name)
    const server = yield* withProgress(
      `Starting the service over the ${name} database`,
      starting,
      () => "Service ready"
    )
    const chosen = yield* places(own)
    const told = yield* withProgress("Explaining the statements", efforts(own, chosen), () => "Statements explained")
    return {
      projects: sizes[name] * perTenant.projects,
      server,
      rows: rowsFor(chosen),
      efforts: told
    } satisfies Side
  })

/** Measures the same reads in a small database and in one a hundred times as large, in turns. */
export const measureScale = (setting: Setting, token: string, options: Options) =>
  Effect.gen(function* () {
    const client = yield* connected(setting.stage.databaseUrl)
    const sides = [yield* side(client, setting, "small"), yield* side(client, setting, "large")] as const
    const results = yield* Effect.forEach(sides[0].rows, (_, n) =>
      measure(
        sides.flatMap(({ rows, server }) => rows.slice(n, n + 1).map((row) => ({ row, server }))),
        token,
        options
      )
    )
    const [small, large] = sides.map(({ efforts, projects, server }) => ({
      projects,
      efforts,
      results: results.flat().filter((result) => result.server === server.name)
    }))
    if (small === undefined || large === undefined) return []
    yield* printLine(
      `\n${machine(setting.stage.postgres)}\n\n${scaleTable(small, large)}\n\n${effortTable(small, large)}\n`
    )
    return [...small.results, ...large.results]
  })
