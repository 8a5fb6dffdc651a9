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
const differentBodies = 64

const requestsOf = ({ body, method, path }: Row): Array<autocannon.Request> =>
  body === undefined
    ? [{ method, path }]
    : Array.from({ length: differentBodies }, (_, n) => ({ method, path, body: JSON.stringify(body(n)) }))

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
        headers: headersOf(row, token),
        requests: requestsOf(row)
      },
      (error: unknown, result) =>
        resume(error ? Effect.die(error) : Effect.succeed(sampleOf(result, since(before, server.cpu()))))
    )
    return Effect.sync(() => instance.stop())
  })
