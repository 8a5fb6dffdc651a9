import { median } from "../median.ts"

/** How many times one thing is another: in the middle round, and in the middle half of the rounds. */
export interface Ratio {
  readonly middle: number
  readonly from: number
  readonly to: number
}

/** Round by round, because what disturbs the machine for a while disturbs both: rates of different rounds say little. */
export const ratioOf = (ones: ReadonlyArray<number>, others: ReadonlyArray<number>): Ratio => {
  const ratios = ones.map((one, round) => one / (others[round] ?? Number.NaN)).toSorted((a, b) => a - b)
  const quarter = Math.floor(ratios.length / 4)
  const half = ratios.slice(quarter, ratios.length - quarter)
  return { middle: median(ratios), from: half.at(0) ?? Number.NaN, to: half.at(-1) ?? Number.NaN }
}

export const toldRatio = ({ from, middle, to }: Ratio) =>
  from === to ? middle.toFixed(2) : `${middle.toFixed(2)} (${from.toFixed(2)}–${to.toFixed(2)})`
