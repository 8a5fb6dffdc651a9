import { type Column, markdown } from "../markdown.ts"
import type { Result } from "../measure.ts"
import { known, rates } from "../report.ts"
import { ratioOf, toldRatio } from "../running/ratio.ts"
import type { Effort } from "./effort.ts"

/** What was found in a database of this many projects. */
export interface Measured {
  readonly projects: number
  readonly results: ReadonlyArray<Result>
  readonly efforts: ReadonlyArray<Effort>
}

type Line<A> = A & { readonly projects: number; readonly small: A }

const projects = { title: "projects", cell: ({ projects }: { projects: number }) => projects.toLocaleString("en") }

/** Each thing measured in the small database, and beneath it the same in the large one. */
const paired = <A>(small: Measured, large: Measured, of: (measured: Measured) => ReadonlyArray<A>) =>
  of(small).flatMap((before, n): ReadonlyArray<Line<A>> => {
    const after = of(large)[n] ?? before
    return [
      { ...before, projects: small.projects, small: before },
      { ...after, projects: large.projects, small: before }
    ]
  })

const columns: ReadonlyArray<Column<Line<Result>>> = [
  { title: "row", words: true, cell: ({ row }) => row },
  projects,
  { title: "requests/s", cell: ({ perSecond }) => perSecond.toFixed(0) },
  { title: "p50 ms", cell: ({ p50 }) => p50.toFixed(1) },
  { title: "p99 ms", cell: ({ p99 }) => p99.toFixed(1) },
  { title: "non-2xx", cell: ({ failures }) => String(failures) },
  { title: "× small", cell: ({ small, ...result }) => toldRatio(ratioOf(rates(result), rates(small))) },
  { title: "CPU ms/request", cell: ({ cpuMillis }) => known(cpuMillis, 3) }
]

export const scaleTable = (small: Measured, large: Measured) =>
  markdown(
    columns,
    paired(small, large, ({ results }) => results)
  )

const effortColumns: ReadonlyArray<Column<Line<Effort>>> = [
  { title: "statement", words: true, cell: ({ statement }) => statement },
  projects,
  { title: "buffers", cell: ({ buffers }) => String(buffers) },
  { title: "execution ms", cell: ({ millis }) => millis.toFixed(3) }
]

export const effortTable = (small: Measured, large: Measured) =>
  markdown(
    effortColumns,
    paired(small, large, ({ efforts }) => efforts)
  )
