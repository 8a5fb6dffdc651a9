import autocannon from "autocannon"
import { Effect } from "effect"
import type { Row } from "./rows.ts"
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

const sampleOf = (result: autocannon.Result, cpu: number | undefined): Sample => {
  const { duration, errors, latency, non2xx, requests, timeouts } = result
  return {
    perSecond: requests.total / duration,
    p50: latency.p50,
    p99: latency.p99,
    failures: non2xx + errors + timeouts,
    cpuMillis: cpu === undefined ? undefined : cpu / requests.total
  }
}

const since = (before: number | undefined, now: number | undefined) =>
  before === undefined || now === undefined ? undefined : now - before

/** Sends the row's requests to the server as fast as it answers them. */
export const load = (server: Server, row: Row, token: string, seconds: number) =>
  Effect.async<Sample>((resume) => {
    const before = server.cpu()
    const instance = autocannon(
      {
        url: server.base,
        connections,
        duration: seconds,
        setupClient: dealing(requestsOf(row, token))
      },
      (error: unknown, result) =>
        resume(error ? Effect.die(error) : Effect.succeed(sampleOf(result, since(before, server.cpu()))))
    )
    return Effect.sync(() => instance.stop())
  })
