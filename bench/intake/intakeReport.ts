import { type Column, markdown } from "../markdown.ts"
import { median } from "../median.ts"
import { spreadColumnsTo } from "../running/spread.ts"
import { databasePool } from "../servers.ts"
import { type Arriving, perSecond } from "./arriving.ts"
import type { Backlog } from "./backlog.ts"
import type { Flooding } from "./flooding.ts"

const kinds = <A>(all: ReadonlyArray<A>, of: (one: A) => string | number) => [...new Set(all.map(of))]

const named = (taker: string) =>
  taker === "service" ? "service, its workers beside it" : `${taker} of the same rows, ${databasePool} connections`

const sumOf = (values: ReadonlyArray<number>) => values.reduce((sum, value) => sum + value, 0)

const arrivingColumns: ReadonlyArray<Column<Arriving>> = [
  { title: `${perSecond} webhooks/s, due to answered`, words: true, cell: ({ taker }) => named(taker) },
  { title: "sent/s", cell: ({ perSecond }) => perSecond.toFixed(0) },
  { title: "sent", cell: ({ count }) => String(count) },
  ...spreadColumnsTo(1),
  { title: "non-2xx", cell: ({ failures }) => String(failures) },
  { title: "not worked at the end", cell: ({ waiting }) => waiting.toFixed(0) }
]

const middleOf = (taker: string, rounds: ReadonlyArray<Arriving>): Arriving => ({
  taker,
  count: sumOf(rounds.map(({ count }) => count)),
  perSecond: median(rounds.map(({ perSecond }) => perSecond)),
  p50: median(rounds.map(({ p50 }) => p50)),
  p99: median(rounds.map(({ p99 }) => p99)),
  max: median(rounds.map(({ max }) => max)),
  failures: sumOf(rounds.map(({ failures }) => failures)),
  waiting: median(rounds.map(({ waiting }) => waiting))
})

/** The medians over the rounds; what was sent and what failed in all of them. */
export const arrivingTable = (rounds: ReadonlyArray<Arriving>) =>
  markdown(
    arrivingColumns,
    kinds(rounds, ({ taker }) => taker).map((taker) =>
      middleOf(
        String(taker),
        rounds.filter((round) => round.taker === taker)
      )
    )
  )

interface Rate {
  readonly what: string
  readonly perSecond: number
  readonly failures: number
}

const rateColumns: ReadonlyArray<Column<Rate>> = [
  { title: "as many as are taken", words: true, cell: ({ what }) => what },
  { title: "webhooks/s", cell: ({ perSecond }) => perSecond.toFixed(0) },
  { title: "non-2xx", cell: ({ failures }) => String(failures) }
]

export const floodingTable = (rounds: ReadonlyArray<Flooding>) =>
  markdown(
    rateColumns,
    kinds(rounds, ({ taker }) => taker).map((taker) => {
      const own = rounds.filter((round) => round.taker === taker)
      return {
        what: taker === "service" ? "service, with nothing to work" : named(String(taker)),
        perSecond: median(own.map(({ perSecond }) => perSecond)),
        failures: sumOf(own.map(({ failures }) => failures))
      }
    })
  )

const backlogColumns: ReadonlyArray<Column<Backlog>> = [
  {
    title: "webhooks that waited",
    words: true,
    cell: ({ issues, waited }) =>
      `${waited.toLocaleString("en")} of ${issues === 1 ? "one issue" : `${issues.toLocaleString("en")} issues`}`
  },
  { title: "worked/s", cell: ({ perSecond }) => perSecond.toFixed(0) }
]

export const backlogTable = (rounds: ReadonlyArray<Backlog>) =>
  markdown(
    backlogColumns,
    kinds(rounds, ({ issues }) => issues).map((issues) => {
      const own = rounds.filter((round) => round.issues === issues)
      const of = (value: (round: Backlog) => number) => median(own.map(value))
      return { issues: Number(issues), waited: of(({ waited }) => waited), perSecond: of(({ perSecond }) => perSecond) }
    })
  )
