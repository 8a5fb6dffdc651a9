import { type Column, formatTable } from "../markdownTable.ts"
import { median } from "../median.ts"
import { type LatencySummary, makePercentileColumns } from "../support/latencySummary.ts"
import type { ComponentRate } from "./components.ts"
import type { DeadReceiverPhase } from "./deadReceivers.ts"
import type { DrainResult } from "./drain.ts"
import type { DeliveryLatency } from "./latency.ts"

const percentileColumns = makePercentileColumns(0)

const latencyColumns: ReadonlyArray<Column<DeliveryLatency>> = [
  { title: "commit to first attempt", isText: true, cell: () => "one receiver" },
  { title: "events/s", cell: ({ perSecond }) => perSecond.toFixed(0) },
  { title: "committed", cell: ({ sent }) => String(sent) },
  { title: "arrived", cell: ({ count }) => String(count) },
  ...percentileColumns
]

export const formatLatencyTable = (rounds: ReadonlyArray<DeliveryLatency>) => formatTable(latencyColumns, rounds)

const drainColumns: ReadonlyArray<Column<DrainResult>> = [
  {
    title: "events that waited",
    isText: true,
    cell: ({ events, clients }) => `${events.toLocaleString("en")}, ${clients}`
  },
  { title: "arrived", cell: ({ arrived }) => String(arrived) },
  { title: "deliveries/s", cell: ({ perSecond }) => perSecond.toFixed(0) }
]

export const formatDrainTable = (drains: ReadonlyArray<DrainResult>) => formatTable(drainColumns, drains)

const componentColumns: ReadonlyArray<Column<ComponentRate>> = [
  { title: "part alone", isText: true, cell: ({ component }) => component },
  { title: "per second", cell: ({ perSecond }) => perSecond.toFixed(0) }
]

export const formatComponentTable = (rates: ReadonlyArray<ComponentRate>) => formatTable(componentColumns, rates)

interface DeadReceiverSummary extends LatencySummary {
  readonly otherReceivers: string
  readonly expected: number
  readonly p99Ratio: string
}

/** Medians over the phases, and the p99 as a ratio to that of the healthy phases. */
const summarizePhases = (
  phases: ReadonlyArray<DeadReceiverPhase>,
  otherReceivers: DeadReceiverPhase["otherReceivers"]
): DeadReceiverSummary => {
  const medianOf = (which: DeadReceiverPhase["otherReceivers"], of: (phase: DeadReceiverPhase) => number) =>
    median(phases.filter((phase) => phase.otherReceivers === which).map(of))
  return {
    otherReceivers: otherReceivers === "dead" ? "one hangs, one answers 500, one resets" : "answer as well",
    expected: medianOf(otherReceivers, ({ expected }) => expected),
    count: medianOf(otherReceivers, ({ count }) => count),
    p50: medianOf(otherReceivers, ({ p50 }) => p50),
    p99: medianOf(otherReceivers, ({ p99 }) => p99),
    max: medianOf(otherReceivers, ({ max }) => max),
    p99Ratio: (medianOf(otherReceivers, ({ p99 }) => p99) / medianOf("healthy", ({ p99 }) => p99)).toFixed(2)
  }
}

const deadReceiverColumns: ReadonlyArray<Column<DeadReceiverSummary>> = [
  {
    title: "commit to arrival at 47 receivers; three others",
    isText: true,
    cell: ({ otherReceivers }) => otherReceivers
  },
  { title: "expected", cell: ({ expected }) => expected.toFixed(0) },
  { title: "arrived", cell: ({ count }) => count.toFixed(0) },
  ...percentileColumns,
  { title: "× p99", cell: ({ p99Ratio }) => p99Ratio }
]

export const formatDeadReceiverTable = (phases: ReadonlyArray<DeadReceiverPhase>) =>
  formatTable(deadReceiverColumns, [summarizePhases(phases, "healthy"), summarizePhases(phases, "dead")])
