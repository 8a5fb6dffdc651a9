import { type Column, formatTable } from "../../markdownTable.ts"
import { makeQuantile } from "../../support/latencySummary.ts"
import { computeMax, findViolations, type RowResult } from "../bounds.ts"
import { formatCounts, formatMillis } from "../report.ts"
import type { Finding } from "../row.ts"

/** One burst. */
export interface SearchResult extends RowResult {
  readonly request: string
  /** The time of the request while nothing else ran. */
  readonly aloneMillis: number
}

type Responses = RowResult["attackerResponses"]

/** The least part of the answers that must be successes, besides those that reject because of load. */
const minLegalShare = 0.9

const sum = (entries: ReadonlyArray<readonly [string, number]>) =>
  entries.reduce((total, [, count]) => total + count, 0)

/** Fails a burst of requests that should be legal and are not: it would measure nothing. */
export const findIllegalRequests = (
  responses: Responses,
  refusals: ReadonlyArray<number | undefined>
): ReadonlyArray<Finding> => {
  const answered = [...responses].filter(([status]) => /^\d+$/.test(status) && status !== "429" && status !== "503")
  const legal = answered.filter(([status]) => status.startsWith("2") || refusals.includes(Number(status)))
  const share = sum(legal) / sum(answered)
  return share < minLegalShare
    ? [{ description: `only ${(share * 100).toFixed(0)} % of the requests were legal`, isViolation: true }]
    : []
}

const computeSuccessShare = (responses: Responses) => {
  const successes = [...responses].filter(([status]) => status.startsWith("2"))
  return sum(successes) / sum([...responses])
}

export const computeP99 = ({ measurements }: RowResult) => makeQuantile(measurements.reads)(0.99)

const makeColumns = (quiet: RowResult): ReadonlyArray<Column<SearchResult>> => [
  { title: "operation", isText: true, cell: ({ name }) => name },
  { title: "alone ms", cell: ({ aloneMillis }) => formatMillis(aloneMillis) },
  { title: "victim p99 ms", cell: (result) => formatMillis(computeP99(result)) },
  { title: "× quiet", cell: (result) => (computeP99(result) / computeP99(quiet)).toFixed(1) },
  { title: "ping max ms", cell: ({ measurements }) => formatMillis(computeMax(measurements.pings)) },
  { title: "PDF max ms", cell: ({ measurements }) => formatMillis(computeMax(measurements.pdfs)) },
  { title: "api MB", cell: ({ apiMegabytes }) => apiMegabytes?.toFixed(0) ?? "ended" },
  { title: "2xx %", cell: ({ attackerResponses }) => (computeSuccessShare(attackerResponses) * 100).toFixed(0) },
  { title: "attacker was answered", isText: true, cell: ({ attackerResponses }) => formatCounts(attackerResponses) },
  { title: "broken", isText: true, cell: (result) => findViolations(result).join(", ") || "nothing" },
  { title: "request", isText: true, cell: ({ request }) => request }
]

const shownResults = 10

/** The operations that were attacked, worst first. */
const pickWorst = (results: ReadonlyArray<SearchResult>, measure: (result: SearchResult) => number) =>
  results
    .filter(({ request }) => request !== "")
    .toSorted((a, b) => measure(b) - measure(a))
    .slice(0, shownResults)

/** The bursts that slowed the victim down most, and those that took most memory. */
export const formatWorst = (quiet: RowResult, results: ReadonlyArray<SearchResult>) => {
  const columns = makeColumns(quiet)
  const bySpeed = pickWorst(results, computeP99)
  const byMemory = pickWorst(results, ({ apiMegabytes = Number.POSITIVE_INFINITY }) => apiMegabytes)
  return [
    `The slowest reads of the victim (p99 without an attack: ${formatMillis(computeP99(quiet))} ms):\n`,
    formatTable(columns, bySpeed),
    "\nMost memory of the api:\n",
    formatTable(columns, byMemory)
  ].join("\n")
}
