import { type Column, formatTable } from "../bench/markdownTable.ts"
import { makeQuantile } from "../bench/support/latencySummary.ts"
import { bounds, brokenBounds, maxOf, type Result, readP95 } from "./bounds.ts"

const millis = (value: number) => (Number.isNaN(value) ? "none" : value.toFixed(0))

const counts = (entries: Iterable<readonly [string, number]>) => {
  const told = [...entries].toSorted(([a], [b]) => (a < b ? -1 : 1)).map(([what, count]) => `${what}: ${count}`)
  return told.join(", ")
}

const columns: ReadonlyArray<Column<Result>> = [
  { title: "beside the victim", isText: true, cell: ({ name }) => name },
  { title: "reads", cell: ({ figures }) => String(figures.reads.length) },
  { title: "p50 ms", cell: ({ figures }) => millis(makeQuantile(figures.reads)(0.5)) },
  { title: `p95 ms (< ${bounds.readP95})`, cell: ({ figures }) => millis(readP95(figures)) },
  { title: `ping max ms (< ${bounds.pingMax})`, cell: ({ figures }) => millis(maxOf(figures.pings)) },
  { title: `PDF max ms (< ${bounds.pdfMax})`, cell: ({ figures }) => millis(maxOf(figures.pdfs)) },
  { title: "failures (0)", isText: true, cell: ({ figures }) => counts(Object.entries(figures.failures)) || "0" },
  { title: `api MB (< ${bounds.apiMegabytes})`, cell: ({ apiMegabytes }) => apiMegabytes?.toFixed(0) ?? "ended" },
  { title: "attacker was answered", isText: true, cell: ({ answers }) => counts(answers) },
  { title: "besides", isText: true, cell: ({ findings }) => findings.map(({ what }) => what).join("; ") },
  { title: "broken", isText: true, cell: (result) => brokenBounds(result).join(", ") || "nothing" }
]

export const resultTable = (results: ReadonlyArray<Result>) => formatTable(columns, results)

/** One line about a row that was measured. */
export const summarize = (result: Result) => {
  const { figures } = result
  const broken = brokenBounds(result)
  return [
    `reads p95 ${millis(readP95(figures))} ms`,
    `ping max ${millis(maxOf(figures.pings))} ms`,
    `PDF max ${millis(maxOf(figures.pdfs))} ms`,
    `api ${result.apiMegabytes?.toFixed(0) ?? "?"} MB`,
    broken.length === 0 ? "holds" : `BROKEN: ${broken.join(", ")}`
  ].join(", ")
}
