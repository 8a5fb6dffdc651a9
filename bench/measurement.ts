import { Effect } from "effect"
import { withProgress } from "../tools/local/ConsoleProgress.ts"
import { runLoad, type Sample } from "./load.ts"
import { median } from "./median.ts"
import type { Options } from "./options.ts"
import { makeBatches } from "./requestBatches.ts"
import { defaultReferences, type Row } from "./row.ts"
import type { Server } from "./serverProcess.ts"
import { serviceName } from "./servers.ts"
import { rotate } from "./support/alternation.ts"
import type { TokenOf } from "./tokenIssuer.ts"

/** The medians of one server in one row. */
export interface RowResult extends Sample {
  readonly row: string
  readonly server: string
  readonly memoryMiB: number | undefined
  /** The samples behind the medians, in the order of measurement. */
  readonly rounds: ReadonlyArray<Sample>
}

const warmUpSeconds = 8

export const warmUp = (server: Server, row: Row, tokenOf: TokenOf) => runLoad(server, row, tokenOf, warmUpSeconds)

const summarizeSamples = (row: Row, server: Server, samples: ReadonlyArray<Sample>): RowResult => ({
  row: row.name,
  server: server.name,
  perSecond: median(samples.map(({ perSecond }) => perSecond)),
  p50: median(samples.map(({ p50 }) => p50)),
  p99: median(samples.map(({ p99 }) => p99)),
  failures: samples.reduce((sum, { failures }) => sum + failures, 0),
  cpuMillis: median(samples.map(({ cpuMillis = Number.NaN }) => cpuMillis)),
  databaseMillis: median(samples.map(({ databaseMillis = Number.NaN }) => databaseMillis)),
  memoryMiB: server.memoryMiB(),
  rounds: samples
})

/** A server and the row to measure it with. */
export interface Candidate {
  readonly server: Server
  readonly row: Row
}

export const selectServers = ({ references = defaultReferences }: Row, servers: ReadonlyArray<Server>) =>
  servers.filter(({ name }) => name === serviceName || references.some((reference) => reference === name))

const prepareCandidates = (candidates: ReadonlyArray<Candidate>, { rounds, seconds }: Options) => {
  const totalSeconds = warmUpSeconds + rounds * seconds
  return candidates.map((candidate) => {
    const { row, server } = candidate
    const sameRow = candidates.filter((other) => other.row === row)
    const nextBatch = makeBatches(row, {
      serverIndex: sameRow.indexOf(candidate),
      serverCount: sameRow.length,
      totalSeconds
    })
    return { row, server, nextBatch, samples: [] as Sample[] }
  })
}

/** Warms up all candidates and alternates between them, so that a disturbance of the machine affects all alike. */
export const measureCandidates = (candidates: ReadonlyArray<Candidate>, tokenOf: TokenOf, options: Options) =>
  Effect.gen(function* () {
    const { rounds, seconds } = options
    const prepared = prepareCandidates(candidates, options)
    const rowNames = [...new Set(candidates.map(({ row }) => row.name))].join(" and ")
    const warmUps = Effect.forEach(prepared, ({ server, nextBatch }) =>
      warmUp(server, nextBatch(warmUpSeconds), tokenOf)
    )
    yield* withProgress(`${rowNames}: warming up`, warmUps, () => `${rowNames}: warmed up`)
    for (let round = 0; round < rounds; round++) {
      const label = `${rowNames}: round ${round + 1} of ${rounds}`
      const measurements = Effect.forEach(rotate(prepared, round), ({ samples, server, nextBatch }) =>
        Effect.map(runLoad(server, nextBatch(seconds), tokenOf, seconds), (sample) => {
          samples.push(sample)
          return `${server.name} ${Math.round(sample.perSecond)}/s at ${sample.cpuMillis?.toFixed(2)} ms CPU`
        })
      )
      yield* withProgress(label, measurements, (lines) => `${label}: ${lines.join(", ")}`)
    }
    return prepared.map(({ row, samples, server }) => summarizeSamples(row, server, samples))
  })
