import autocannon from "autocannon"
import { Effect } from "effect"
import type { Row } from "./row.ts"
import { headersOf } from "./sameAnswers.ts"
import type { Server } from "./serverProcess.ts"

/** What one measurement tells. */
export interface Sample {
  readonly perSecond: number
  readonly p50: number
  readonly p99: number
  readonly failures: number
  /** Time the server computed for one request: unlike the rest it hardly changes with what else the machine does. */
  readonly cpuMillis: number | undefined
}

export const connections = 32

const requestsOf = ({ asks, method }: Row, token: string): ReadonlyArray<autocannon.Request> =>
  asks.map((ask) => ({
    method,
    path: ask.path,
    headers: headersOf(ask, token),
    ...(ask.body === undefined ? {} : { body: JSON.stringify(ask.body) })
  }))

/** Deals the requests out, so that no two connections send the same one unless there are too few of them. */
const dealing = (requests: ReadonlyArray<autocannon.Request>) => {
  const hands = Math.min(connections, requests.length)
  let dealt = 0
  return (client: autocannon.Client) => {
    const hand = dealt++ % hands
    client.setRequests(requests.filter((_, n) => n % hands === hand))
  }
}

const sampleOf = (result: autocannon.Result, seconds: number, cpu: number | undefined): Sample => {
  const { errors, latency, non2xx, requests, timeouts } = result
  return {
    perSecond: requests.total / seconds,
    p50: latency.p50,
    p99: latency.p99,
    failures: non2xx + errors + timeouts,
    cpuMillis: cpu === undefined ? undefined : cpu / requests.total
  }
}

const since = (before: number | undefined, now: number | undefined) =>
  before === undefined || now === undefined ? undefined : now - before

/** Tells the time between its making and the last lap. */
const stopwatch = () => {
  const began = performance.now()
  let last = began
  return {
    lap: () => {
      last = performance.now()
    },
    seconds: () => (last - began) / 1000
  }
}

/** Sends the row's requests as fast as the server answers them, until the time or, if sent only once, they are up. */
export const load = (server: Server, row: Row, token: string, seconds: number) =>
  Effect.async<Sample>((resume) => {
    const setupClient = dealing(requestsOf(row, token))
    const before = server.cpu()
    const watch = stopwatch()
    const instance = autocannon(
      {
        url: server.base,
        connections,
        duration: seconds,
        ...(row.once ? { maxOverallRequests: row.asks.length } : {}),
        setupClient
      },
      (error: unknown, result) => {
        if (error) return resume(Effect.die(error))
        const took = row.once ? watch.seconds() : result.duration
        resume(Effect.succeed(sampleOf(result, took, since(before, server.cpu()))))
      }
    )
    // Requests that are up are noticed only when the second is.
    if (row.once) instance.on("response", watch.lap)
    return Effect.sync(() => instance.stop())
  })
