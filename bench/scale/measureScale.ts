import { Effect } from "effect"
import type pg from "pg"
import { say, step } from "../../src/layers/local/Say.ts"
import { connected } from "../database.ts"
import { measure, warmUp } from "../measure.ts"
import type { Options } from "../options.ts"
import { machine } from "../report.ts"
import type { Server } from "../serverProcess.ts"
import { type Setting, startService } from "../servers.ts"
import { efforts } from "./effort.ts"
import { grow, perTenant } from "./grow.ts"
import { places, rowsFor } from "./reads.ts"
import { effortTable, type Measured, scaleTable } from "./scaleReport.ts"

/** How many tenants there are, first and in the end. */
const sizes = { small: 10, large: 1000 }

interface Measuring {
  readonly client: pg.Client
  readonly service: Server
  readonly token: string
  readonly options: Options
}

/** What a database of this many tenants makes of the reads. */
const measureAt = ({ client, options, service, token }: Measuring, tenants: number) =>
  Effect.gen(function* () {
    const chosen = yield* places(client)
    const results = yield* Effect.forEach(rowsFor(chosen), (row) => measure([{ server: service, row }], token, options))
    const told = yield* step("Explaining the statements", efforts(client, chosen), () => "Statements explained")
    return { projects: tenants * perTenant.projects, results: results.flat(), efforts: told } satisfies Measured
  })

/** A first turn of every row, since the small database is measured first and must not pay for a young process. */
const warmUpAll = ({ client, service, token }: Measuring) =>
  Effect.flatMap(places(client), (chosen) => Effect.forEach(rowsFor(chosen), (row) => warmUp(service, row, token)))

/** Measures the same reads in a small database and, after it has grown a hundredfold, in a large one. */
export const measureScale = (setting: Setting, token: string, options: Options) =>
  Effect.gen(function* () {
    const client = yield* connected(setting.stage.databaseUrl)
    yield* grow(client, 1, sizes.small)
    const starting = startService(setting, options.profile)
    const service = yield* step("Starting the service", starting, () => "Service ready")
    const measuring = { client, service, token, options }
    yield* step("Warming up", warmUpAll(measuring), () => "Warmed up")
    const small = yield* measureAt(measuring, sizes.small)
    yield* grow(client, sizes.small + 1, sizes.large)
    const large = yield* measureAt(measuring, sizes.large)
    yield* say(`\n${machine(setting.stage.postgres)}\n\n${scaleTable(small, large)}\n\n${effortTable(small, large)}\n`)
    return [...small.results, ...large.results]
  })
