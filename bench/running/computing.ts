import { Effect } from "effect"
import { type Column, markdown } from "../markdown.ts"
import type { Running } from "../serverProcess.ts"

interface Computed {
  readonly name: string
  readonly during: string
  readonly share: number
}

/** What the processes computed during some work, beside what came of it. */
export const withEffort = <A, E, R>(running: ReadonlyArray<Running>, during: string, work: Effect.Effect<A, E, R>) =>
  Effect.gen(function* () {
    const before = running.map(({ cpu }) => cpu() ?? Number.NaN)
    const began = performance.now()
    const found = yield* work
    const took = performance.now() - began
    const efforts = running.map(
      ({ cpu, name }, n): Computed => ({ name, during, share: ((cpu() ?? Number.NaN) - (before[n] ?? 0)) / took })
    )
    return { found, efforts }
  })

const columns: ReadonlyArray<Column<Computed>> = [
  { title: "process", words: true, cell: ({ name }) => name },
  { title: "during", words: true, cell: ({ during }) => during },
  { title: "% of a core", cell: ({ share }) => (share * 100).toFixed(0) }
]

export const effortTable = (efforts: ReadonlyArray<Computed>) => markdown(columns, efforts)
