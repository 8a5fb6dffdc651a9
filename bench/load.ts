import autocannon from "autocannon"
import { Effect } from "effect"
import { makeHeaders } from "./responseComparison.ts"
import type { Row } from "./row.ts"
import type { Server } from "./serverProcess.ts"
import type { TokenOf } from "./tokenIssuer.ts"

/** One measurement of one server. */
export interface Sample {
  readonly perSecond: number
  readonly p50: number
  readonly p99: number
  readonly failures: number
  /** CPU time per request. Unlike the rest it depends little on the load of the machine. */
  readonly cpuMillis: number | undefined
  /** CPU time of all processes of PostgreSQL per request. */
  readonly databaseMillis: number | undefined
}

export const connections = 32

const toAutocannonRequests = ({ requests, method }: Row, tokenOf: TokenOf): ReadonlyArray<autocannon.Request> =>
  requests.map((request) => ({
    method,
    path: request.path,
    headers: makeHeaders(request, tokenOf),
    ...(request.body === undefined ? {} : { body: JSON.stringify(request.body) })
  }))

/** Distributes the requests, so that no two connections send the same one if there are enough. */
const distributeRequests = (requests: ReadonlyArray<autocannon.Request>) => {
  const groupCount = Math.min(connections, requests.length)
  let clientCount = 0
  return (client: autocannon.Client) => {
    const group = clientCount++ % groupCount
    client.setRequests(requests.filter((_, n) => n % groupCount === group))
  }
}

/** CPU time of the server and of its database so far. */
const readCosts = (server: Server) => ({ cpuMillis: server.cpuMillis(), databaseMillis: server.databaseMillis() })

type Costs = ReturnType<typeof readCosts>

const toSample = (result: autocannon.Result, seconds: number, before: Costs, after: Costs): Sample => {
  const { errors, latency, non2xx, requests, timeouts } = result
  const costPerRequest = (cost: keyof Costs) => {
    const [start, end] = [before[cost], after[cost]]
    return start === undefined || end === undefined ? undefined : (end - start) / requests.total
  }
  return {
    perSecond: requests.total / seconds,
    p50: latency.p50,
    p99: latency.p99,
    failures: non2xx + errors + timeouts,
    cpuMillis: costPerRequest("cpuMillis"),
    databaseMillis: costPerRequest("databaseMillis")
  }
}

/** Measures the time from its creation to the last lap. */
const makeStopwatch = () => {
  const startedAt = performance.now()
  let lastLapAt = startedAt
  return {
    lap: () => {
      lastLapAt = performance.now()
    },
    seconds: () => (lastLapAt - startedAt) / 1000
  }
}

/** Sends the requests of a row as fast as the server responds, for `seconds` or until they are used up. */
export const runLoad = (server: Server, row: Row, tokenOf: TokenOf, seconds: number) =>
  Effect.async<Sample>((resume) => {
    const setupClient = distributeRequests(toAutocannonRequests(row, tokenOf))
    const before = readCosts(server)
    const stopwatch = makeStopwatch()
    const instance = autocannon(
      {
        url: server.baseUrl,
        connections,
        duration: seconds,
        ...(row.isSentOnce ? { maxOverallRequests: row.requests.length } : {}),
        setupClient
      },
      (error: unknown, result) => {
        if (error) return resume(Effect.die(error))
        const elapsedSeconds = row.isSentOnce ? stopwatch.seconds() : result.duration
        resume(Effect.succeed(toSample(result, elapsedSeconds, before, readCosts(server))))
      }
    )
    // autocannon notices only at the end of a second that the requests are used up.
    if (row.isSentOnce) instance.on("response", stopwatch.lap)
    return Effect.sync(() => instance.stop())
  })
