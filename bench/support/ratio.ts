import { median } from "../median.ts"

/** The median and the quartiles of a ratio. */
export interface Ratio {
  readonly median: number
  readonly lowerQuartile: number
  readonly upperQuartile: number
}

/** Computes the ratio of each round, because a disturbance of the machine affects both values of a round. */
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
