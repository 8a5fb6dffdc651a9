import { type Column, formatTable } from "../markdownTable.ts"
import { median } from "../median.ts"
import { computeRatio, formatRatio } from "../support/ratio.ts"
import type { Comparison } from "./queuePart.ts"

const formatBound = ({ bound }: Comparison) => ("min" in bound ? `≥ ${bound.min}` : `≤ ${bound.max}`)

const columns: ReadonlyArray<Column<Comparison>> = [
  { title: "queues", isText: true, cell: ({ description }) => description },
  { title: "of", isText: true, cell: ({ unit }) => unit },
  { title: "with", cell: ({ values }) => median(values).toFixed(0) },
  { title: "without", cell: ({ baselines }) => median(baselines).toFixed(0) },
  { title: "ratio", cell: ({ values, baselines }) => formatRatio(computeRatio(values, baselines)) },
  { title: "bound", cell: formatBound }
]

export const formatQueuesTable = (comparisons: ReadonlyArray<Comparison>) => formatTable(columns, comparisons)

/** A ratio that is NaN violates every bound. */
export const findViolations = (comparison: Comparison): ReadonlyArray<string> => {
  const { bound, values, baselines, description } = comparison
  const { median } = computeRatio(values, baselines)
  const isWithinBound = "min" in bound ? median >= bound.min : median <= bound.max
  return isWithinBound ? [] : [`${description}: ${median.toFixed(2)} is not ${formatBound(comparison)}`]
}
