import { connections } from "./load.ts"
import { comparedRequestCount } from "./responseComparison.ts"
import { type Row, selectRequests } from "./row.ts"

/** Bounds the number of requests per second, since those that can be sent only once are limited. */
const maxRequestsPerSecond = 1000

interface ServerShare {
  readonly serverIndex: number
  readonly serverCount: number
  /** The length of all batches together. */
  readonly totalSeconds: number
}

/**
 * Returns the requests of the next seconds. Requests that can be sent only once are divided: each server gets the same
 * number, a multiple of the connections, and they last until the end.
 */
export const makeBatches = (row: Row, { serverIndex, totalSeconds, serverCount }: ServerShare) => {
  if (!row.isSentOnce) return () => row
  const requests = selectRequests(row, serverIndex, serverCount).slice(comparedRequestCount)
  let used = 0
  return (seconds: number): Row => {
    const count = Math.min(maxRequestsPerSecond * seconds, Math.floor((requests.length * seconds) / totalSeconds))
    const from = used
    used += count - (count % connections)
    return { ...row, requests: requests.slice(from, used) }
  }
}
