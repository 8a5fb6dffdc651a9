import { median } from "../median.ts"

/** How many times one thing is another: in the middle round, and in the middle half of the rounds. */
export interface Ratio {
  readonly median: number
  readonly lowerQuartile: number
  readonly upperQuartile: number
}

/** Round by round, because what disturbs the machine for a while disturbs both: rates of different rounds say little. */
export const computeRatio = (values: ReadonlyArray<number>, baselines: ReadonlyArray<number>): Ratio => {
  const ratios = values.map((value, round) => value / (baselines[round] ?? Number.NaN)).toSorted((a, b) => a - b)
  const quarter = Math.floor(ratios.length / 4)
  const middleHalf = ratios.slice(quarter, ratios.length - quarter)
  return {
    median: median(ratios),
    lowerQuartile: middleHalf.at(0) ?? Number.NaN,
    upperQuartile: middleHalf.at(-1) ?? Number.NaN
  }
}

export const formatRatio = ({ lowerQuartile, median, upperQuartile }: Ratio) =>
  lowerQuartile === upperQuartile
    ? median.toFixed(2)
    : `${median.toFixed(2)} (${lowerQuartile.toFixed(2)}–${upperQuartile.toFixed(2)})`
