import type { Column } from "../markdown.ts"

/** How long things took, in milliseconds. */
export interface Spread {
  readonly count: number
  readonly p50: number
  readonly p99: number
  readonly max: number
}

/** The value that this share of the values is not above. */
export const quantiles = (values: ReadonlyArray<number>) => {
  const sorted = values.toSorted((a, b) => a - b)
  return (share: number) => sorted[Math.max(0, Math.ceil(sorted.length * share) - 1)] ?? Number.NaN
}

export const spreadOf = (millis: ReadonlyArray<number>): Spread => {
  const at = quantiles(millis)
  return { count: millis.length, p50: at(0.5), p99: at(0.99), max: at(1) }
}

export const told = ({ max, p50, p99 }: Spread) =>
  `p50 ${p50.toFixed(0)} ms, p99 ${p99.toFixed(0)} ms, max ${max.toFixed(0)} ms`

export const spreadColumnsTo = (digits: number): ReadonlyArray<Column<Spread>> => [
  { title: "p50 ms", cell: ({ p50 }) => p50.toFixed(digits) },
  { title: "p99 ms", cell: ({ p99 }) => p99.toFixed(digits) },
  { title: "max ms", cell: ({ max }) => max.toFixed(digits) }
]
