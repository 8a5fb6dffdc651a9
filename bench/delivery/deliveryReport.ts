import { type Column, markdown } from "../markdown.ts"
import { median } from "../median.ts"
import { type Spread, spreadColumnsTo } from "../running/spread.ts"
import type { Rate } from "./bare.ts"
import type { Phase } from "./dead.ts"
import type { Drain } from "./drain.ts"
import type { Latency } from "./latency.ts"

const spreadColumns = spreadColumnsTo(0)

const latencyColumns: ReadonlyArray<Column<Latency>> = [
  { title: "commit to first attempt", words: true, cell: () => "one receiver" },
  { title: "events/s", cell: ({ perSecond }) => perSecond.toFixed(0) },
  { title: "committed", cell: ({ sent }) => String(sent) },
  { title: "arrived", cell: ({ count }) => String(count) },
  ...spreadColumns
]

export const latencyTable = (rounds: ReadonlyArray<Latency>) => markdown(latencyColumns, rounds)

const drainColumns: ReadonlyArray<Column<Drain>> = [
  { title: "events that waited", words: true, cell: ({ events, what }) => `${events.toLocaleString("en")}, ${what}` },
  { title: "arrived", cell: ({ arrived }) => String(arrived) },
  { title: "deliveries/s", cell: ({ perSecond }) => perSecond.toFixed(0) }
]

export const drainTable = (drains: ReadonlyArray<Drain>) => markdown(drainColumns, drains)

const rateColumns: ReadonlyArray<Column<Rate>> = [
  { title: "part alone", words: true, cell: ({ what }) => what },
  { title: "per second", cell: ({ perSecond }) => perSecond.toFixed(0) }
]

export const rateTable = (rates: ReadonlyArray<Rate>) => markdown(rateColumns, rates)

interface Others extends Spread {
  readonly others: string
  readonly expected: number
  readonly times: string
}

/** The median over the phases, and how it compares with that of the phases in which all were healthy. */
const summary = (phases: ReadonlyArray<Phase>, others: Phase["others"]): Others => {
  const middle = (which: Phase["others"], of: (phase: Phase) => number) =>
    median(phases.filter((phase) => phase.others === which).map(of))
  return {
    others: others === "dead" ? "one hangs, one answers 500, one resets" : "answer as well",
    expected: middle(others, ({ expected }) => expected),
    count: middle(others, ({ count }) => count),
    p50: middle(others, ({ p50 }) => p50),
    p99: middle(others, ({ p99 }) => p99),
    max: middle(others, ({ max }) => max),
    times: (middle(others, ({ p99 }) => p99) / middle("healthy", ({ p99 }) => p99)).toFixed(2)
  }
}

const deadColumns: ReadonlyArray<Column<Others>> = [
  { title: "commit to arrival at 47 receivers; three others", words: true, cell: ({ others }) => others },
  { title: "expected", cell: ({ expected }) => expected.toFixed(0) },
  { title: "arrived", cell: ({ count }) => count.toFixed(0) },
  ...spreadColumns,
  { title: "× p99", cell: ({ times }) => times }
]

export const deadTable = (phases: ReadonlyArray<Phase>) =>
  markdown(deadColumns, [summary(phases, "healthy"), summary(phases, "dead")])
