import { Effect } from "effect"
import { withProgress } from "../src/layers/local/ConsoleProgress.ts"
import { load, type Sample } from "./load.ts"
import { median } from "./median.ts"
import type { Options } from "./options.ts"
import type { Row } from "./row.ts"
import { rotated } from "./running/inTurns.ts"
import type { Server } from "./serverProcess.ts"
import { supplyOf } from "./supply.ts"

/** What is told of one server in one row. */
export interface Result extends Sample {
  readonly row: string
  readonly server: string
  readonly memory: number | undefined
  /** What the rest is the median of, in the order it was measured. */
  readonly rounds: ReadonlyArray<Sample>
}

const warmUpSeconds = 8

export const warmUp = (server: Server, row: Row, token: string) => load(server, row, token, warmUpSeconds)

const summary = (row: Row, server: Server, samples: ReadonlyArray<Sample>): Result => ({
  row: row.name,
  server: server.name,
  perSecond: median(samples.map(({ perSecond }) => perSecond)),
  p50: median(samples.map(({ p50 }) => p50)),
  p99: median(samples.map(({ p99 }) => p99)),
  failures: samples.reduce((sum, { failures }) => sum + failures, 0),
  cpuMillis: median(samples.map(({ cpuMillis = Number.NaN }) => cpuMillis)),
  memory: server.memory(),
  rounds: samples
})

/** A server to be measured, and with what. */
export interface Candidate {
  readonly server: Server
  readonly row: Row
}

/** The servers a row is measured on: all, unless it is for one of them only. */
export const serversOf = ({ only }: Row, servers: ReadonlyArray<Server>) =>
  servers.filter(({ name }) => only === undefined || name === only)

/** Each candidate with what it is sent, and what came of it. */
const supplied = (candidates: ReadonlyArray<Candidate>, { rounds, seconds: each }: Options) => {
  const seconds = warmUpSeconds + rounds * each
  return candidates.map((candidate) => {
    const { row, server } = candidate
    const sharing = candidates.filter((other) => other.row === row)
    const supply = supplyOf(row, { place: sharing.indexOf(candidate), servers: sharing.length, seconds })
    return { row, server, supply, samples: [] as Sample[] }
  })
}

/** Warms all of them up and measures them in turns: what disturbs the machine for a while disturbs all alike. */
export const measure = (candidates: ReadonlyArray<Candidate>, token: string, options: Options) =>
  Effect.gen(function* () {
    const { rounds, seconds } = options
    const all = supplied(candidates, options)
    const named = [...new Set(candidates.map(({ row }) => row.name))].join(" and ")
    const warming = Effect.forEach(all, ({ server, supply }) => warmUp(server, supply(warmUpSeconds), token))
    yield* withProgress(`${named}: warming up`, warming, () => `${named}: warmed up`)
    for (let round = 0; round < rounds; round++) {
      const label = `${named}: round ${round + 1} of ${rounds}`
      const inTurn = Effect.forEach(rotated(all, round), ({ samples, server, supply }) =>
        Effect.map(load(server, supply(seconds), token, seconds), (sample) => {
          samples.push(sample)
          return `${server.name} ${Math.round(sample.perSecond)}/s at ${sample.cpuMillis?.toFixed(2)} ms CPU`
        })
      )
      yield* withProgress(label, inTurn, (told) => `${label}: ${told.join(", ")}`)
    }
    return all.map(({ row, samples, server }) => summary(row, server, samples))
  })
