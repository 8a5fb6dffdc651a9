import { Effect } from "effect"
import { type Column, formatTable } from "../markdownTable.ts"
import type { RunningProcess } from "../serverProcess.ts"

interface CpuShare {
  readonly process: string
  readonly part: string
  readonly share: number
}

/** Runs work and returns its result with the CPU share of each process. */
export const withCpuShares = <A, E, R>(
  processes: ReadonlyArray<RunningProcess>,
  part: string,
  work: Effect.Effect<A, E, R>
) =>
  Effect.gen(function* () {
    const cpuBefore = processes.map(({ cpuMillis }) => cpuMillis() ?? Number.NaN)
    const startedAt = performance.now()
    const result = yield* work
    const elapsedMillis = performance.now() - startedAt
    const cpuShares = processes.map(
      ({ cpuMillis, name }, n): CpuShare => ({
        process: name,
        part,
        share: ((cpuMillis() ?? Number.NaN) - (cpuBefore[n] ?? 0)) / elapsedMillis
      })
    )
    return { result, cpuShares }
  })

const columns: ReadonlyArray<Column<CpuShare>> = [
  { title: "process", isText: true, cell: ({ process }) => process },
  { title: "during", isText: true, cell: ({ part }) => part },
  { title: "% of a core", cell: ({ share }) => (share * 100).toFixed(0) }
]

export const formatCpuTable = (cpuShares: ReadonlyArray<CpuShare>) => formatTable(columns, cpuShares)
