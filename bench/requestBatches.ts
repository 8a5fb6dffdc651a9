import { connections } from "./load.ts"
import { comparedRequestCount } from "./responseComparison.ts"
import { type Row, selectRequests } from "./row.ts"

/** As many requests as are there for a second of those that are sent only once. */
const maxRequestsPerSecond = 1000

interface ServerShare {
  readonly serverIndex: number
  readonly serverCount: number
  /** How long the server is going to be asked in all. */
  readonly totalSeconds: number
}

/**
 * The row as it is sent for some seconds. Of requests that are sent only once it holds those that come next: the same
 * number for each server, as many for each connection, and never more than last until the end.
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
