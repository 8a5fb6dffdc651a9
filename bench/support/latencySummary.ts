import type { Column } from "../markdownTable.ts"

/** Latencies in milliseconds. */
export interface LatencySummary {
  readonly count: number
  readonly p50: number
  readonly p99: number
  readonly max: number
}

/** Returns a function from a quantile, such as 0.95, to its value by the nearest-rank method. */
export const makeQuantile = (values: ReadonlyArray<number>) => {
  const sorted = values.toSorted((a, b) => a - b)
  return (q: number) => sorted[Math.max(0, Math.ceil(sorted.length * q) - 1)] ?? Number.NaN
}

export const summarizeLatencies = (millis: ReadonlyArray<number>): LatencySummary => {
  const quantile = makeQuantile(millis)
  return { count: millis.length, p50: quantile(0.5), p99: quantile(0.99), max: quantile(1) }
}

export const formatLatencies = ({ max, p50, p99 }: LatencySummary) =>
  `p50 ${p50.toFixed(0)} ms, p99 ${p99.toFixed(0)} ms, max ${max.toFixed(0)} ms`

export const makePercentileColumns = (digits: number): ReadonlyArray<Column<LatencySummary>> => [
  { title: "p50 ms", cell: ({ p50 }) => p50.toFixed(digits) },
  { title: "p99 ms", cell: ({ p99 }) => p99.toFixed(digits) },
  { title: "max ms", cell: ({ max }) => max.toFixed(digits) }
]
