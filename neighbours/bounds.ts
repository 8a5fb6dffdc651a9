import { makeQuantile } from "../bench/support/latencySummary.ts"
import type { Finding } from "./row.ts"
import type { Figures } from "./victim/orders.ts"

/** What nobody may do to another caller, in milliseconds and megabytes. */
export const bounds = { readP95: 1000, pingMax: 3000, pdfMax: 5000, apiMegabytes: 1000 } as const

export interface Result {
  readonly name: string
  readonly figures: Figures
  /** The most memory the api ever had; `undefined` when it ended. */
  readonly apiMegabytes: number | undefined
  readonly answers: ReadonlyMap<string, number>
  readonly findings: ReadonlyArray<Finding>
}

export const readP95 = ({ reads }: Figures) => makeQuantile(reads)(0.95)
export const maxOf = (times: ReadonlyArray<number>) => makeQuantile(times)(1)

export const failureCount = ({ failures }: Figures) => Object.values(failures).reduce((sum, count) => sum + count, 0)

/** Everything a result breaks, in words. Nothing measured is broken as well: nobody was answered at all. */
export const brokenBounds = ({ apiMegabytes, figures, findings }: Result): ReadonlyArray<string> => {
  const within = (value: number, bound: number) => value < bound
  return [
    within(readP95(figures), bounds.readP95) ? "" : "reads",
    within(maxOf(figures.pings), bounds.pingMax) ? "" : "ping",
    within(maxOf(figures.pdfs), bounds.pdfMax) ? "" : "PDF",
    failureCount(figures) === 0 ? "" : "failures",
    apiMegabytes === undefined ? "api ended" : within(apiMegabytes, bounds.apiMegabytes) ? "" : "memory",
    ...findings.filter(({ isBroken }) => isBroken).map(({ what }) => what)
  ].filter((broken) => broken !== "")
}

/** The figures of several measurements as if they were one. */
export const mergeFigures = (all: ReadonlyArray<Figures>): Figures => {
  const failures: Record<string, number> = {}
  for (const [what, count] of all.flatMap((one) => Object.entries(one.failures))) {
    failures[what] = (failures[what] ?? 0) + count
  }
  return {
    reads: all.flatMap(({ reads }) => reads),
    pings: all.flatMap(({ pings }) => pings),
    pdfs: all.flatMap(({ pdfs }) => pdfs),
    failures
  }
}
