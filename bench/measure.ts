import { Effect } from "effect"
import { step } from "../src/layers/local/Say.ts"
import { load, type Sample } from "./load.ts"
import { median } from "./median.ts"
import type { Options } from "./options.ts"
import type { Row } from "./rows.ts"
import type { Server } from "./serverProcess.ts"

/** What is told of one server in one row. */
export interface Result extends Sample {
  readonly row: string
  readonly server: string
  readonly memory: number | undefined
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
  memory: server.memory()
})

/** Each round begins with another server, so that none always follows the same neighbour. */
const rotated = <A>(items: ReadonlyArray<A>, by: number) => [
  ...items.slice(by % items.length),
  ...items.slice(0, by % items.length)
]

/** Warms every server up and measures them in turns: what disturbs the machine for a while disturbs all alike. */
export const measure = (servers: ReadonlyArray<Server>, row: Row, token: string, { rounds, seconds }: Options) =>
  Effect.gen(function* () {
    const samples = new Map<string, Array<Sample>>(servers.map(({ name }) => [name, []]))
    const warming = Effect.forEach(servers, (server) => warmUp(server, row, token))
    yield* step(`${row.name}: warming up`, warming, () => `${row.name}: warmed up`)
    for (let round = 0; round < rounds; round++) {
      const label = `${row.name}: round ${round + 1} of ${rounds}`
      const inTurn = Effect.forEach(rotated(servers, round), (server) =>
        Effect.map(load(server, row, token, seconds), (sample) => {
          samples.get(server.name)?.push(sample)
          return `${server.name} ${Math.round(sample.perSecond)}/s`
        })
      )
      yield* step(label, inTurn, (told) => `${label}: ${told.join(", ")}`)
    }
    return servers.map((server) => summary(row, server, samples.get(server.name) ?? []))
  })
