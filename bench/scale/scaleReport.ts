import { type Column, formatTable } from "../markdownTable.ts"
import type { RowResult } from "../measurement.ts"
import { formatNumber, listThroughputs } from "../report.ts"
import { computeRatio, formatRatio } from "../support/ratio.ts"
import type { StatementCost } from "./statementCosts.ts"

export interface ScaleResult {
  readonly projectCount: number
  readonly results: ReadonlyArray<RowResult>
  readonly statementCosts: ReadonlyArray<StatementCost>
}

type PairedLine<A> = A & { readonly projectCount: number; readonly small: A }

const projectsColumn = {
  title: "projects",
  cell: ({ projectCount }: { readonly projectCount: number }) => projectCount.toLocaleString("en")
}

/** Pairs each item of the small database with that of the large one. */
const pairResults = <A>(small: ScaleResult, large: ScaleResult, select: (measured: ScaleResult) => ReadonlyArray<A>) =>
  select(small).flatMap((smallItem, n): ReadonlyArray<PairedLine<A>> => {
    const largeItem = select(large)[n] ?? smallItem
    return [
      { ...smallItem, projectCount: small.projectCount, small: smallItem },
      { ...largeItem, projectCount: large.projectCount, small: smallItem }
    ]
  })

const columns: ReadonlyArray<Column<PairedLine<RowResult>>> = [
  { title: "row", isText: true, cell: ({ row }) => row },
  projectsColumn,
  { title: "requests/s", cell: ({ perSecond }) => perSecond.toFixed(0) },
  { title: "p50 ms", cell: ({ p50 }) => p50.toFixed(1) },
  { title: "p99 ms", cell: ({ p99 }) => p99.toFixed(1) },
  { title: "non-2xx", cell: ({ failures }) => String(failures) },
  {
    title: "× small",
    cell: ({ small, ...result }) => formatRatio(computeRatio(listThroughputs(result), listThroughputs(small)))
  },
  { title: "CPU ms/request", cell: ({ cpuMillis }) => formatNumber(cpuMillis, 3) }
]

export const formatScaleTable = (small: ScaleResult, large: ScaleResult) =>
  formatTable(
    columns,
    pairResults(small, large, ({ results }) => results)
  )

const statementColumns: ReadonlyArray<Column<PairedLine<StatementCost>>> = [
  { title: "statement", isText: true, cell: ({ statement }) => statement },
  projectsColumn,
  { title: "buffers", cell: ({ buffers }) => String(buffers) },
  { title: "execution ms", cell: ({ millis }) => millis.toFixed(3) }
]

export const formatStatementTable = (small: ScaleResult, large: ScaleResult) =>
  formatTable(
    statementColumns,
    pairResults(small, large, ({ statementCosts }) => statementCosts)
  )
