import { type Column, markdown } from "./markdown.ts"
import type { Result } from "./measure.ts"
import { rates } from "./report.ts"
import type { Row } from "./row.ts"
import { ratioOf, toldRatio } from "./running/ratio.ts"

/** What a server was found to do in a row, and in the row its cost is told beside. */
interface Line {
  readonly result: Result
  readonly base: Result
}

const columns: ReadonlyArray<Column<Line>> = [
  { title: "row", words: true, cell: ({ result }) => result.row },
  { title: "beside", words: true, cell: ({ base }) => base.row },
  { title: "server", words: true, cell: ({ result }) => result.server },
  { title: "× requests/s", cell: ({ base, result }) => toldRatio(ratioOf(rates(result), rates(base))) },
  { title: "× time/request", cell: ({ base, result }) => toldRatio(ratioOf(rates(base), rates(result))) },
  { title: "× CPU ms/request", cell: ({ base, result }) => toldRatio(ratioOf(efforts(result), efforts(base))) }
]

const efforts = ({ rounds }: Result) => rounds.map(({ cpuMillis = Number.NaN }) => cpuMillis)

const linesOf = (results: ReadonlyArray<Result>, { beside, name }: Row): ReadonlyArray<Line> =>
  results
    .filter(({ row }) => row === name)
    .flatMap((result) =>
      results.filter(({ row, server }) => row === beside && server === result.server).map((base) => ({ result, base }))
    )

/** The table of what rows cost beside others, if both of any two were measured. */
export const costTable = (results: ReadonlyArray<Result>, rows: ReadonlyArray<Row>) => {
  const lines = rows.flatMap((row) => linesOf(results, row))
  return lines.length === 0 ? [] : [markdown(columns, lines)]
}
