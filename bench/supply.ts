import { connections } from "./load.ts"
import { asksFor, type Row } from "./row.ts"
import { compared } from "./sameAnswers.ts"

/** As many requests as are there for a second of those that are sent only once. */
const perSecond = 1000

interface Whose {
  readonly place: number
  readonly servers: number
  /** How long the server is going to be asked in all. */
  readonly seconds: number
}

/**
 * The row as it is sent for some seconds. Of requests that are sent only once it holds those that come next: the same
 * number for each server, as many for each connection, and never more than last until the end.
 */
export const supplyOf = (row: Row, { place, seconds: all, servers }: Whose) => {
  if (!row.once) return () => row
  const own = asksFor(row, place, servers).slice(compared)
  let used = 0
  return (seconds: number): Row => {
    const count = Math.min(perSecond * seconds, Math.floor((own.length * seconds) / all))
    const from = used
    used += count - (count % connections)
    return { ...row, asks: own.slice(from, used) }
  }
}
