import { type Column, formatTable } from "../markdownTable.ts"
import { median } from "../median.ts"
import { databasePoolSize } from "../servers.ts"
import { makePercentileColumns } from "../support/latencySummary.ts"
import type { BacklogResult } from "./backlog.ts"
import { type IntakeLatency, webhooksPerSecond } from "./latency.ts"
import type { IntakeThroughput } from "./throughput.ts"

const distinct = <A>(all: ReadonlyArray<A>, of: (one: A) => string | number) => [...new Set(all.map(of))]

const describeTarget = (target: string) =>
  target === "service"
    ? "service, its workers beside it"
    : `${target} of the same rows, ${databasePoolSize} connections`

const sum = (values: ReadonlyArray<number>) => values.reduce((sum, value) => sum + value, 0)

const latencyColumns: ReadonlyArray<Column<IntakeLatency>> = [
  {
    title: `${webhooksPerSecond} webhooks/s, due to answered`,
    isText: true,
    cell: ({ target }) => describeTarget(target)
  },
  { title: "sent/s", cell: ({ perSecond }) => perSecond.toFixed(0) },
  { title: "sent", cell: ({ count }) => String(count) },
  ...makePercentileColumns(1),
  { title: "non-2xx", cell: ({ failures }) => String(failures) },
  { title: "not processed at the end", cell: ({ unprocessed }) => unprocessed.toFixed(0) }
]

const summarizeRounds = (target: string, rounds: ReadonlyArray<IntakeLatency>): IntakeLatency => ({
  target,
  count: sum(rounds.map(({ count }) => count)),
  perSecond: median(rounds.map(({ perSecond }) => perSecond)),
  p50: median(rounds.map(({ p50 }) => p50)),
  p99: median(rounds.map(({ p99 }) => p99)),
  max: median(rounds.map(({ max }) => max)),
  failures: sum(rounds.map(({ failures }) => failures)),
  unprocessed: median(rounds.map(({ unprocessed }) => unprocessed))
})

/** Medians over the rounds; counts are sums over all rounds. */
export const formatLatencyTable = (rounds: ReadonlyArray<IntakeLatency>) =>
  formatTable(
    latencyColumns,
    distinct(rounds, ({ target }) => target).map((target) =>
      summarizeRounds(
        String(target),
        rounds.filter((round) => round.target === target)
      )
    )
  )

interface ThroughputLine {
  readonly target: string
  readonly perSecond: number
  readonly failures: number
}

const throughputColumns: ReadonlyArray<Column<ThroughputLine>> = [
  { title: "as many as are taken", isText: true, cell: ({ target }) => target },
  { title: "webhooks/s", cell: ({ perSecond }) => perSecond.toFixed(0) },
  { title: "non-2xx", cell: ({ failures }) => String(failures) }
]

export const formatThroughputTable = (rounds: ReadonlyArray<IntakeThroughput>) =>
  formatTable(
    throughputColumns,
    distinct(rounds, ({ target }) => target).map((target) => {
      const own = rounds.filter((round) => round.target === target)
      return {
        target: target === "service" ? "service, with nothing to process" : describeTarget(String(target)),
        perSecond: median(own.map(({ perSecond }) => perSecond)),
        failures: sum(own.map(({ failures }) => failures))
      }
    })
  )

const backlogColumns: ReadonlyArray<Column<BacklogResult>> = [
  {
    title: "webhooks that waited",
    isText: true,
    cell: ({ issueCount, queued }) =>
      `${queued.toLocaleString("en")} of ${issueCount === 1 ? "one issue" : `${issueCount.toLocaleString("en")} issues`}`
  },
  { title: "processed/s", cell: ({ perSecond }) => perSecond.toFixed(0) }
]

export const formatBacklogTable = (rounds: ReadonlyArray<BacklogResult>) =>
  formatTable(
    backlogColumns,
    distinct(rounds, ({ issueCount }) => issueCount).map((issueCount) => {
      const own = rounds.filter((round) => round.issueCount === issueCount)
      const medianOf = (value: (round: BacklogResult) => number) => median(own.map(value))
      return {
        issueCount: Number(issueCount),
        queued: medianOf(({ queued }) => queued),
        perSecond: medianOf(({ perSecond }) => perSecond)
      }
    })
  )
