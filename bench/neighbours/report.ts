import { type Column, formatTable } from "../markdownTable.ts"
import { makeQuantile } from "../support/latencySummary.ts"
import { bounds, computeMax, computeReadP95, findViolations, type RowResult } from "./bounds.ts"

export const toMegabytes = (mebibytes: number | undefined) =>
  mebibytes === undefined ? undefined : mebibytes * 1.048576

export const formatMillis = (value: number) => (Number.isNaN(value) ? "none" : value.toFixed(0))

export const formatCounts = (entries: Iterable<readonly [string, number]>) => {
  const parts = [...entries].toSorted(([a], [b]) => (a < b ? -1 : 1)).map(([key, count]) => `${key}: ${count}`)
  return parts.join(", ")
}

const columns: ReadonlyArray<Column<RowResult>> = [
  { title: "beside the victim", isText: true, cell: ({ name }) => name },
  { title: "reads", cell: ({ measurements }) => String(measurements.reads.length) },
  { title: "p50 ms", cell: ({ measurements }) => formatMillis(makeQuantile(measurements.reads)(0.5)) },
  { title: `p95 ms (< ${bounds.readP95})`, cell: ({ measurements }) => formatMillis(computeReadP95(measurements)) },
  {
    title: `ping max ms (< ${bounds.pingMax})`,
    cell: ({ measurements }) => formatMillis(computeMax(measurements.pings))
  },
  { title: `PDF max ms (< ${bounds.pdfMax})`, cell: ({ measurements }) => formatMillis(computeMax(measurements.pdfs)) },
  {
    title: "failures (0)",
    isText: true,
    cell: ({ measurements }) => formatCounts(Object.entries(measurements.failures)) || "0"
  },
  { title: `api MB (< ${bounds.apiMegabytes})`, cell: ({ apiMegabytes }) => apiMegabytes?.toFixed(0) ?? "ended" },
  { title: "attacker was answered", isText: true, cell: ({ attackerResponses }) => formatCounts(attackerResponses) },
  { title: "besides", isText: true, cell: ({ findings }) => findings.map(({ description }) => description).join("; ") },
  { title: "broken", isText: true, cell: (result) => findViolations(result).join(", ") || "nothing" }
]

export const formatResultTable = (results: ReadonlyArray<RowResult>) => formatTable(columns, results)

export const formatSummary = (result: RowResult) => {
  const { measurements } = result
  const violations = findViolations(result)
  return [
    `reads p95 ${formatMillis(computeReadP95(measurements))} ms`,
    `ping max ${formatMillis(computeMax(measurements.pings))} ms`,
    `PDF max ${formatMillis(computeMax(measurements.pdfs))} ms`,
    `api ${result.apiMegabytes?.toFixed(0) ?? "?"} MB`,
    violations.length === 0 ? "within bounds" : `VIOLATED: ${violations.join(", ")}`
  ].join(", ")
}
