import { type Column, formatTable } from "../markdownTable.ts"
import { median } from "../median.ts"
import { computeRatio, formatRatio } from "../support/ratio.ts"
import type { LoadResult } from "./generator/load.ts"
import { type ProbeResult, probePaths } from "./probe.ts"

export interface OverloadRound {
  readonly saturation: LoadResult
  readonly offeredPerSecond: number
  readonly overload: LoadResult
  readonly probes: ReadonlyArray<ProbeResult>
}

export interface OverloadVariant {
  readonly name: string
  readonly rounds: ReadonlyArray<OverloadRound>
}

const minGoodput = 0.9
const maxP99 = 3

/** Goodput under overload as a ratio to that at saturation, round by round. */
const goodputRatio = ({ rounds }: OverloadVariant) =>
  computeRatio(
    rounds.map(({ overload }) => overload.acceptedPerSecond),
    rounds.map(({ saturation }) => saturation.acceptedPerSecond)
  )

/** p99 under overload as a ratio to that at saturation, round by round. */
const p99Ratio = ({ rounds }: OverloadVariant) =>
  computeRatio(
    rounds.map(({ overload }) => overload.acceptedP99),
    rounds.map(({ saturation }) => saturation.acceptedP99)
  )

const summarizeProbes = ({ rounds }: OverloadVariant, path: string) => {
  const probes = rounds.flatMap((round) => round.probes.filter((probe) => probe.path === path))
  return {
    maxMillis: Math.max(...probes.map(({ maxMillis }) => maxMillis)),
    failures: probes.reduce((sum, { failures }) => sum + failures, 0)
  }
}

const medianColumn = (
  title: string,
  select: (round: OverloadRound) => number,
  digits = 0
): Column<OverloadVariant> => ({
  title,
  cell: ({ rounds }) => median(rounds.map(select)).toFixed(digits)
})

const columns: ReadonlyArray<Column<OverloadVariant>> = [
  { title: "5 × what can be done", isText: true, cell: ({ name }) => name },
  medianColumn("best/s", ({ saturation }) => saturation.acceptedPerSecond),
  medianColumn("p99 ms", ({ saturation }) => saturation.acceptedP99),
  medianColumn("offered/s", ({ offeredPerSecond }) => offeredPerSecond),
  medianColumn("sent/s", ({ overload }) => overload.sentPerSecond),
  medianColumn("2xx/s", ({ overload }) => overload.acceptedPerSecond),
  medianColumn("429 and 503/s", ({ overload }) => overload.rejectedPerSecond),
  { title: "other", cell: ({ rounds }) => String(rounds.reduce((sum, { overload }) => sum + overload.failures, 0)) },
  { title: `× best (≥ ${minGoodput})`, cell: (variant) => formatRatio(goodputRatio(variant)) },
  medianColumn("p99 ms of 2xx", ({ overload }) => overload.acceptedP99),
  { title: `× p99 (≤ ${maxP99})`, cell: (variant) => formatRatio(p99Ratio(variant)) },
  ...probePaths.map(
    (path): Column<OverloadVariant> => ({
      title: `${path} max ms`,
      cell: (variant) => {
        const { failures, maxMillis } = summarizeProbes(variant, path)
        return `${maxMillis.toFixed(0)}${failures === 0 ? "" : `, ${failures} failed`}`
      }
    })
  ),
  medianColumn("generator % of a core", ({ overload }) => overload.generatorCpuShare * 100)
]

export const formatOverloadTable = (variants: ReadonlyArray<OverloadVariant>) => formatTable(columns, variants)

export const findViolations = (variant: OverloadVariant): ReadonlyArray<string> => {
  const [goodput, p99] = [goodputRatio(variant).median, p99Ratio(variant).median]
  const failures = variant.rounds.reduce(
    (sum, { overload, saturation }) => sum + overload.failures + saturation.failures,
    0
  )
  return [
    goodput >= minGoodput ? "" : `${goodput.toFixed(2)} of the goodput at saturation, expected at least ${minGoodput}`,
    p99 <= maxP99 ? "" : `p99 is ${p99.toFixed(2)} times that at saturation, expected at most ${maxP99}`,
    failures === 0 ? "" : `${failures} requests failed with neither 429 nor 503`,
    ...probePaths.map((path) => {
      const { failures } = summarizeProbes(variant, path)
      return failures === 0 ? "" : `${path} failed ${failures} times`
    })
  ]
    .filter((violation) => violation !== "")
    .map((violation) => `${variant.name}: ${violation}`)
}
