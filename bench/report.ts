import { cpus } from "node:os"
import { connections } from "./load.ts"
import { type Column, formatTable } from "./markdownTable.ts"
import type { RowResult } from "./measurement.ts"
import { computeRatio, formatRatio } from "./support/ratio.ts"

export const listThroughputs = ({ rounds }: RowResult) => rounds.map(({ perSecond }) => perSecond)

const formatThroughputRatio = (results: ReadonlyArray<RowResult>, result: RowResult, server: string) => {
  const reference = results.find((candidate) => candidate.row === result.row && candidate.server === server)
  return reference === undefined ? "" : formatRatio(computeRatio(listThroughputs(result), listThroughputs(reference)))
}

export const formatNumber = (value: number | undefined, digits: number) =>
  value === undefined || Number.isNaN(value) ? "?" : value.toFixed(digits)

const makeColumns = (results: ReadonlyArray<RowResult>): ReadonlyArray<Column<RowResult>> => [
  { title: "row", isText: true, cell: ({ row }) => row },
  { title: "server", isText: true, cell: ({ server }) => server },
  { title: "requests/s", cell: ({ perSecond }) => perSecond.toFixed(0) },
  { title: "p50 ms", cell: ({ p50 }) => p50.toFixed(1) },
  { title: "p99 ms", cell: ({ p99 }) => p99.toFixed(1) },
  { title: "non-2xx", cell: ({ failures }) => String(failures) },
  { title: "× fastify", cell: (result) => formatThroughputRatio(results, result, "fastify") },
  { title: "× stock", cell: (result) => formatThroughputRatio(results, result, "stock") },
  { title: "× bare", cell: (result) => formatThroughputRatio(results, result, "bare") },
  { title: "CPU ms/request", cell: ({ cpuMillis }) => formatNumber(cpuMillis, 3) },
  { title: "PostgreSQL's", cell: ({ databaseMillis }) => formatNumber(databaseMillis, 3) },
  { title: "MiB", cell: ({ memoryMiB }) => formatNumber(memoryMiB, 0) }
]

export const formatResultTable = (results: ReadonlyArray<RowResult>) => formatTable(makeColumns(results), results)

export const describeHardware = (postgres: string) =>
  `${cpus().length} cores (${cpus()[0]?.model ?? "unknown"}), Node ${process.versions.node}, ${postgres}`

export const describeMachine = (postgres: string) =>
  `${describeHardware(postgres)}; ${connections} connections; load generator, database and the servers share the cores`

/** A result with failed requests is invalid. */
export const describeFailures = (results: ReadonlyArray<RowResult>) =>
  results
    .filter(({ failures }) => failures > 0)
    .map(({ failures, row, server }) => `${row}: ${server} failed ${failures} requests`)
