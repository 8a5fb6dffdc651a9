import { resolve } from "node:path"
import { Effect } from "effect"
import { printLine, withProgress } from "../../src/layers/local/ConsoleProgress.ts"
import { projectRoot } from "../../src/layers/local/ProjectRoot.ts"
import { runLoad, type Sample } from "../load.ts"
import { type Column, formatTable } from "../markdownTable.ts"
import { median } from "../median.ts"
import { makeBatches } from "../requestBatches.ts"
import type { Row } from "../row.ts"
import type { Server } from "../serverProcess.ts"
import { type BenchEnvironment, startBuild } from "../servers.ts"
import { rotate } from "../support/alternation.ts"
import { computeRatio, formatRatio } from "../support/ratio.ts"

const warmUpSeconds = 4
const roundsPerStart = 4

/** What one request cost one build in one row, for each time it was started. */
interface CostComparison {
  readonly row: string
  readonly baseline: ReadonlyArray<number>
  readonly current: ReadonlyArray<number>
}

export interface BaselineOptions {
  /** The folder of the other build's checkout. */
  readonly baselineFolder: string
  readonly rows: ReadonlyArray<Row>
  readonly starts: number
}

const medianCpuMillis = (samples: ReadonlyArray<Sample>) =>
  median(samples.map(({ cpuMillis = Number.NaN }) => cpuMillis))

/** Of requests that are sent only once, each start of each build has a part to itself. */
const measureRow = (row: Row, servers: ReadonlyArray<Server>, token: string, start: number, starts: number) =>
  Effect.gen(function* () {
    const candidates = servers.map((server, n) => {
      const share = { serverIndex: start * servers.length + n, serverCount: starts * servers.length }
      const nextBatch = makeBatches(row, { ...share, totalSeconds: warmUpSeconds + roundsPerStart })
      return { server, supply: nextBatch, samples: [] as Sample[] }
    })
    for (const { server, supply } of candidates) yield* runLoad(server, supply(warmUpSeconds), token, warmUpSeconds)
    for (let round = 0; round < roundsPerStart; round++) {
      for (const { samples, server, supply } of rotate(candidates, round)) {
        samples.push(yield* runLoad(server, supply(1), token, 1))
      }
    }
    const medianOf = (name: string) =>
      medianCpuMillis(candidates.find(({ server }) => server.name === name)?.samples ?? [])
    return { row: row.name, baseline: medianOf("before"), current: medianOf("now") }
  })

/** Both builds started afresh, the other one first in every second start, and all rows measured in turns. */
const measureStart = (
  setting: BenchEnvironment,
  token: string,
  { baselineFolder, rows, starts }: BaselineOptions,
  start: number
) =>
  Effect.gen(function* () {
    const builds = [
      { name: "before", checkout: resolve(baselineFolder) },
      { name: "now", checkout: projectRoot }
    ]
    const servers = yield* Effect.forEach(rotate(builds, start), ({ checkout, name }) =>
      startBuild(setting, name, checkout)
    )
    return yield* Effect.forEach(rows, (row) =>
      withProgress(
        `Start ${start + 1} of ${starts}: ${row.name}`,
        measureRow(row, servers, token, start, starts),
        ({ baseline, current }) =>
          `Start ${start + 1} of ${starts}: ${row.name}: ${current.toFixed(3)} ms CPU, ${baseline.toFixed(3)} ms before`
      )
    )
  }).pipe(Effect.scoped)

const columns: ReadonlyArray<Column<CostComparison>> = [
  { title: "row", isText: true, cell: ({ row }) => row },
  { title: "before, CPU ms/request", cell: ({ baseline }) => median(baseline).toFixed(3) },
  { title: "now", cell: ({ current }) => median(current).toFixed(3) },
  { title: "× before", cell: ({ baseline, current }) => formatRatio(computeRatio(current, baseline)) }
]

/**
 * What a request costs this build, beside what it costs another. Two processes of the same build differ by as much as a
 * fifth, by what was compiled and where it lies, so that only many starts tell builds from each other.
 */
export const compareWithBaseline = (setting: BenchEnvironment, token: string, comparison: BaselineOptions) =>
  Effect.gen(function* () {
    const measurements = yield* Effect.forEach(Array.from({ length: comparison.starts }), (_, start) =>
      measureStart(setting, token, comparison, start)
    )
    const costs = comparison.rows.map(({ name }): CostComparison => {
      const own = measurements.flat().filter(({ row }) => row === name)
      return { row: name, baseline: own.map(({ baseline }) => baseline), current: own.map(({ current }) => current) }
    })
    yield* printLine(`\n${formatTable(columns, costs)}\n`)
  })
