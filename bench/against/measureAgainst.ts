import { resolve } from "node:path"
import { Effect } from "effect"
import { printLine, withProgress } from "../../src/layers/local/ConsoleProgress.ts"
import { projectRoot } from "../../src/layers/local/ProjectRoot.ts"
import { load, type Sample } from "../load.ts"
import { type Column, markdown } from "../markdown.ts"
import { median } from "../median.ts"
import type { Row } from "../row.ts"
import { rotated } from "../running/inTurns.ts"
import { ratioOf, toldRatio } from "../running/ratio.ts"
import type { Server } from "../serverProcess.ts"
import { type Setting, startBuild } from "../servers.ts"
import { supplyOf } from "../supply.ts"

const warmUpSeconds = 4
const roundsOfStart = 4

/** What one request cost one build in one row, for each time it was started. */
interface Cost {
  readonly row: string
  readonly before: ReadonlyArray<number>
  readonly now: ReadonlyArray<number>
}

export interface Comparison {
  /** The folder of the other build's checkout. */
  readonly folder: string
  readonly rows: ReadonlyArray<Row>
  readonly starts: number
}

const effortOf = (samples: ReadonlyArray<Sample>) => median(samples.map(({ cpuMillis = Number.NaN }) => cpuMillis))

/** Of requests that are sent only once, each start of each build has a part to itself. */
const measuredIn = (row: Row, servers: ReadonlyArray<Server>, token: string, start: number, starts: number) =>
  Effect.gen(function* () {
    const all = servers.map((server, n) => {
      const whose = { place: start * servers.length + n, servers: starts * servers.length }
      const supply = supplyOf(row, { ...whose, seconds: warmUpSeconds + roundsOfStart })
      return { server, supply, samples: [] as Sample[] }
    })
    for (const { server, supply } of all) yield* load(server, supply(warmUpSeconds), token, warmUpSeconds)
    for (let round = 0; round < roundsOfStart; round++) {
      for (const { samples, server, supply } of rotated(all, round)) {
        samples.push(yield* load(server, supply(1), token, 1))
      }
    }
    const of = (name: string) => effortOf(all.find(({ server }) => server.name === name)?.samples ?? [])
    return { row: row.name, before: of("before"), now: of("now") }
  })

/** Both builds started afresh, the other one first in every second start, and all rows measured in turns. */
const startedOnce = (setting: Setting, token: string, { folder, rows, starts }: Comparison, start: number) =>
  Effect.gen(function* () {
    const builds = [
      { name: "before", checkout: resolve(folder) },
      { name: "now", checkout: projectRoot }
    ]
    const servers = yield* Effect.forEach(rotated(builds, start), ({ checkout, name }) =>
      startBuild(setting, name, checkout)
    )
    return yield* Effect.forEach(rows, (row) =>
      withProgress(
        `Start ${start + 1} of ${starts}: ${row.name}`,
        measuredIn(row, servers, token, start, starts),
        ({ before, now }) =>
          `Start ${start + 1} of ${starts}: ${row.name}: ${now.toFixed(3)} ms CPU, ${before.toFixed(3)} ms before`
      )
    )
  }).pipe(Effect.scoped)

const columns: ReadonlyArray<Column<Cost>> = [
  { title: "row", words: true, cell: ({ row }) => row },
  { title: "before, CPU ms/request", cell: ({ before }) => median(before).toFixed(3) },
  { title: "now", cell: ({ now }) => median(now).toFixed(3) },
  { title: "× before", cell: ({ before, now }) => toldRatio(ratioOf(now, before)) }
]

/**
 * What a request costs this build, beside what it costs another. Two processes of the same build differ by as much as a
 * fifth, by what was compiled and where it lies, so that only many starts tell builds from each other.
 */
export const measureAgainst = (setting: Setting, token: string, comparison: Comparison) =>
  Effect.gen(function* () {
    const found = yield* Effect.forEach(Array.from({ length: comparison.starts }), (_, start) =>
      startedOnce(setting, token, comparison, start)
    )
    const costs = comparison.rows.map(({ name }): Cost => {
      const of = found.flat().filter(({ row }) => row === name)
      return { row: name, before: of.map(({ before }) => before), now: of.map(({ now }) => now) }
    })
    yield* printLine(`\n${markdown(columns, costs)}\n`)
  })
