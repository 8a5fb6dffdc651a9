import { type Column, markdown } from "../markdown.ts"
import { median } from "../median.ts"
import { ratioOf, toldRatio } from "../running/ratio.ts"
import type { LoadResult } from "./generator/orders.ts"
import { type Probe, probedPaths } from "./probe.ts"

export interface Round {
  readonly saturation: LoadResult
  readonly offeredPerSecond: number
  readonly overload: LoadResult
  readonly probes: ReadonlyArray<Probe>
}

export interface Variant {
  readonly name: string
  readonly rounds: ReadonlyArray<Round>
}

const minGoodput = 0.9
const maxP99 = 3

/** What is still done of what can be done at best, round by round. */
const goodputOf = ({ rounds }: Variant) =>
  ratioOf(
    rounds.map(({ overload }) => overload.acceptedPerSecond),
    rounds.map(({ saturation }) => saturation.acceptedPerSecond)
  )

/** How much longer the accepted requests take, round by round. */
const p99Of = ({ rounds }: Variant) =>
  ratioOf(
    rounds.map(({ overload }) => overload.acceptedP99),
    rounds.map(({ saturation }) => saturation.acceptedP99)
  )

const probesOf = ({ rounds }: Variant, path: string) => {
  const probes = rounds.flatMap((round) => round.probes.filter((probe) => probe.path === path))
  return {
    maxMillis: Math.max(...probes.map(({ maxMillis }) => maxMillis)),
    failures: probes.reduce((sum, { failures }) => sum + failures, 0)
  }
}

const middle = (title: string, of: (round: Round) => number, digits = 0): Column<Variant> => ({
  title,
  cell: ({ rounds }) => median(rounds.map(of)).toFixed(digits)
})

const columns: ReadonlyArray<Column<Variant>> = [
  { title: "5 × what can be done", words: true, cell: ({ name }) => name },
  middle("best/s", ({ saturation }) => saturation.acceptedPerSecond),
  middle("p99 ms", ({ saturation }) => saturation.acceptedP99),
  middle("offered/s", ({ offeredPerSecond }) => offeredPerSecond),
  middle("sent/s", ({ overload }) => overload.sentPerSecond),
  middle("2xx/s", ({ overload }) => overload.acceptedPerSecond),
  middle("429 and 503/s", ({ overload }) => overload.refusedPerSecond),
  { title: "other", cell: ({ rounds }) => String(rounds.reduce((sum, { overload }) => sum + overload.failures, 0)) },
  { title: `× best (≥ ${minGoodput})`, cell: (variant) => toldRatio(goodputOf(variant)) },
  middle("p99 ms of 2xx", ({ overload }) => overload.acceptedP99),
  { title: `× p99 (≤ ${maxP99})`, cell: (variant) => toldRatio(p99Of(variant)) },
  ...probedPaths.map(
    (path): Column<Variant> => ({
      title: `${path} max ms`,
      cell: (variant) => {
        const { failures, maxMillis } = probesOf(variant, path)
        return `${maxMillis.toFixed(0)}${failures === 0 ? "" : `, ${failures} failed`}`
      }
    })
  ),
  middle("generator % of a core", ({ overload }) => overload.generatorShare * 100)
]

export const overloadTable = (variants: ReadonlyArray<Variant>) => markdown(columns, variants)

/** What of a variant is not as it should be, in words. */
export const brokenIn = (variant: Variant): ReadonlyArray<string> => {
  const [goodput, p99] = [goodputOf(variant).middle, p99Of(variant).middle]
  const failures = variant.rounds.reduce(
    (sum, { overload, saturation }) => sum + overload.failures + saturation.failures,
    0
  )
  return [
    goodput >= minGoodput ? "" : `${goodput.toFixed(2)} of the best is left, not ${minGoodput}`,
    p99 <= maxP99 ? "" : `the p99 is ${p99.toFixed(2)} times that of the best, not ${maxP99}`,
    failures === 0 ? "" : `${failures} requests failed otherwise than with 429 or 503`,
    ...probedPaths.map((path) => {
      const { failures } = probesOf(variant, path)
      return failures === 0 ? "" : `${path} failed ${failures} times`
    })
  ]
    .filter((broken) => broken !== "")
    .map((broken) => `${variant.name}: ${broken}`)
}
