import { cpus } from "node:os"
import { connections } from "./load.ts"
import { type Column, markdown } from "./markdown.ts"
import type { Result } from "./measure.ts"
import { ratioOf, toldRatio } from "./running/ratio.ts"

export const rates = ({ rounds }: Result) => rounds.map(({ perSecond }) => perSecond)

const ratio = (results: ReadonlyArray<Result>, one: Result, server: string) => {
  const other = results.find((result) => result.row === one.row && result.server === server)
  return other === undefined ? "" : toldRatio(ratioOf(rates(one), rates(other)))
}

export const known = (value: number | undefined, digits: number) =>
  value === undefined || Number.isNaN(value) ? "?" : value.toFixed(digits)

const columnsFor = (results: ReadonlyArray<Result>): ReadonlyArray<Column<Result>> => [
  { title: "row", words: true, cell: ({ row }) => row },
  { title: "server", words: true, cell: ({ server }) => server },
  { title: "requests/s", cell: ({ perSecond }) => perSecond.toFixed(0) },
  { title: "p50 ms", cell: ({ p50 }) => p50.toFixed(1) },
  { title: "p99 ms", cell: ({ p99 }) => p99.toFixed(1) },
  { title: "non-2xx", cell: ({ failures }) => String(failures) },
  { title: "× fastify", cell: (result) => ratio(results, result, "fastify") },
  { title: "× bare", cell: (result) => ratio(results, result, "bare") },
  { title: "CPU ms/request", cell: ({ cpuMillis }) => known(cpuMillis, 3) },
  { title: "MiB", cell: ({ memory }) => known(memory, 0) }
]

export const table = (results: ReadonlyArray<Result>) => markdown(columnsFor(results), results)

export const hardware = (postgres: string) =>
  `${cpus().length} cores (${cpus()[0]?.model ?? "unknown"}), Node ${process.versions.node}, ${postgres}`

export const machine = (postgres: string) =>
  `${hardware(postgres)}; ${connections} connections; load generator, database and the servers share the cores`

/** The rows that are worth nothing, because a server refused or failed to answer some of their requests. */
export const failed = (results: ReadonlyArray<Result>) =>
  results
    .filter(({ failures }) => failures > 0)
    .map(({ failures, row, server }) => `${row}: ${server} failed ${failures} requests`)
