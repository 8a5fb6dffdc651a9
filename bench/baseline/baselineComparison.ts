import { resolve } from "node:path"
import { Effect } from "effect"
import { printLine, withProgress } from "../../tools/local/ConsoleProgress.ts"
import { projectRoot } from "../../tools/local/ProjectRoot.ts"
import { runLoad, type Sample } from "../load.ts"
import { type Column, formatTable } from "../markdownTable.ts"
import { median } from "../median.ts"
import { makeBatches } from "../requestBatches.ts"
import type { Row } from "../row.ts"
import type { Server } from "../serverProcess.ts"
import { type BenchEnvironment, startBuild } from "../servers.ts"
import { rotate } from "../support/alternation.ts"
import { computeRatio, formatRatio } from "../support/ratio.ts"
import type { TokenOf } from "../tokenIssuer.ts"

// The compilers of V8 are busy with a new process for about ten seconds.
const warmUpSeconds = 12
const roundsPerStart = 8

/** CPU milliseconds per request in one row: one value for each start of the builds. */
interface CostComparison {
  readonly row: string
  readonly baseline: ReadonlyArray<number>
  readonly current: ReadonlyArray<number>
}

export interface BaselineOptions {
  /** The checkout of the baseline build. */
  readonly baselineFolder: string
  readonly rows: ReadonlyArray<Row>
  readonly starts: number
}

const medianCpuMillis = (samples: ReadonlyArray<Sample>) =>
  median(samples.map(({ cpuMillis = Number.NaN }) => cpuMillis))

/** Requests that can be sent only once are divided among all starts of both builds. */
const measureRow = (row: Row, servers: ReadonlyArray<Server>, tokenOf: TokenOf, start: number, starts: number) =>
  Effect.gen(function* () {
    const candidates = servers.map((server, n) => {
      const share = { serverIndex: start * servers.length + n, serverCount: starts * servers.length }
      const nextBatch = makeBatches(row, { ...share, totalSeconds: warmUpSeconds + roundsPerStart })
      return { server, supply: nextBatch, samples: [] as Sample[] }
    })
    for (const { server, supply } of candidates) yield* runLoad(server, supply(warmUpSeconds), tokenOf, warmUpSeconds)
    for (let round = 0; round < roundsPerStart; round++) {
      for (const { samples, server, supply } of rotate(candidates, round)) {
        samples.push(yield* runLoad(server, supply(1), tokenOf, 1))
      }
    }
    const medianOf = (name: string) =>
      medianCpuMillis(candidates.find(({ server }) => server.name === name)?.samples ?? [])
    return { row: row.name, baseline: medianOf("before"), current: medianOf("now") }
  })

/** Starts both builds and measures every row. The order of the builds alternates between starts. */
const measureStart = (
  setting: BenchEnvironment,
  tokenOf: TokenOf,
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
        measureRow(row, servers, tokenOf, start, starts),
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
 * Compares the CPU time per request of this build with that of a baseline build. Two processes of the same build differ
 * by up to a fifth (JIT, memory layout), so the comparison needs many starts.
 */
export const compareWithBaseline = (setting: BenchEnvironment, tokenOf: TokenOf, comparison: BaselineOptions) =>
  Effect.gen(function* () {
    const measurements = yield* Effect.forEach(Array.from({ length: comparison.starts }), (_, start) =>
      measureStart(setting, tokenOf, comparison, start)
    )
    const costs = comparison.rows.map(({ name }): CostComparison => {
      const own = measurements.flat().filter(({ row }) => row === name)
      return { row: name, baseline: own.map(({ baseline }) => baseline), current: own.map(({ current }) => current) }
    })
    yield* printLine(`\n${formatTable(columns, costs)}\n`)
  })
