import { makeQuantile } from "../support/latencySummary.ts"
import type { Finding } from "./row.ts"
import type { Measurements } from "./victim/commands.ts"

/** The bounds of what the victim may notice, in milliseconds and megabytes. */
export const bounds = { readP95: 1000, pingMax: 3000, pdfMax: 5000, apiMegabytes: 1000 } as const

export interface RowResult {
  readonly name: string
  readonly measurements: Measurements
  /** Peak memory; undefined when the api process ended. */
  readonly apiMegabytes: number | undefined
  readonly attackerResponses: ReadonlyMap<string, number>
  readonly findings: ReadonlyArray<Finding>
}

export const computeReadP95 = ({ reads }: Measurements) => makeQuantile(reads)(0.95)
export const computeMax = (times: ReadonlyArray<number>) => makeQuantile(times)(1)

export const countFailures = ({ failures }: Measurements) =>
  Object.values(failures).reduce((sum, count) => sum + count, 0)

/** Names the violated bounds. Without a sample, a bound is violated too. */
export const findViolations = ({ apiMegabytes, measurements, findings }: RowResult): ReadonlyArray<string> => {
  const isWithin = (value: number, bound: number) => value < bound
  return [
    isWithin(computeReadP95(measurements), bounds.readP95) ? "" : "reads",
    isWithin(computeMax(measurements.pings), bounds.pingMax) ? "" : "ping",
    isWithin(computeMax(measurements.pdfs), bounds.pdfMax) ? "" : "PDF",
    countFailures(measurements) === 0 ? "" : "failures",
    apiMegabytes === undefined ? "api ended" : isWithin(apiMegabytes, bounds.apiMegabytes) ? "" : "memory",
    ...findings.filter(({ isViolation }) => isViolation).map(({ description }) => description)
  ].filter((violation) => violation !== "")
}

export const mergeMeasurements = (all: ReadonlyArray<Measurements>): Measurements => {
  const failures: Record<string, number> = {}
  for (const [key, count] of all.flatMap((measurement) => Object.entries(measurement.failures))) {
    failures[key] = (failures[key] ?? 0) + count
  }
  return {
    reads: all.flatMap(({ reads }) => reads),
    pings: all.flatMap(({ pings }) => pings),
    pdfs: all.flatMap(({ pdfs }) => pdfs),
    failures
  }
}
