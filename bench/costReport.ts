import { type Column, formatTable } from "./markdownTable.ts"
import type { RowResult } from "./measurement.ts"
import { listThroughputs } from "./report.ts"
import type { Row } from "./row.ts"
import { computeRatio, formatRatio } from "./support/ratio.ts"

/** The result of a row and that of its baseline row, on the same server. */
interface CostLine {
  readonly result: RowResult
  readonly baseline: RowResult
}

const columns: ReadonlyArray<Column<CostLine>> = [
  { title: "row", isText: true, cell: ({ result }) => result.row },
  { title: "beside", isText: true, cell: ({ baseline }) => baseline.row },
  { title: "server", isText: true, cell: ({ result }) => result.server },
  {
    title: "× requests/s",
    cell: ({ baseline, result }) => formatRatio(computeRatio(listThroughputs(result), listThroughputs(baseline)))
  },
  {
    title: "× time/request",
    cell: ({ baseline, result }) => formatRatio(computeRatio(listThroughputs(baseline), listThroughputs(result)))
  },
  {
    title: "× CPU ms/request",
    cell: ({ baseline, result }) => formatRatio(computeRatio(listCpuMillis(result), listCpuMillis(baseline)))
  }
]

const listCpuMillis = ({ rounds }: RowResult) => rounds.map(({ cpuMillis = Number.NaN }) => cpuMillis)

const pairWithBaselines = (results: ReadonlyArray<RowResult>, { baselineRow, name }: Row): ReadonlyArray<CostLine> =>
  results
    .filter(({ row }) => row === name)
    .flatMap((result) =>
      results
        .filter(({ row, server }) => row === baselineRow && server === result.server)
        .map((baseline) => ({ result, baseline }))
    )

/** Compares rows with their baseline rows. Empty unless both rows of a pair were measured. */
export const formatCostTables = (results: ReadonlyArray<RowResult>, rows: ReadonlyArray<Row>) => {
  const lines = rows.flatMap((row) => pairWithBaselines(results, row))
  return lines.length === 0 ? [] : [formatTable(columns, lines)]
}
