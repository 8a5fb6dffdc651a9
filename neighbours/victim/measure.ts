import { type Answer, type Api, idIn, type Method } from "../api.ts"
import type { Figures } from "./orders.ts"
import type { Belongings } from "./prepare.ts"
import type { Receiver } from "./receiver.ts"

/** How often the victim does each thing, whatever becomes of those before. */
export const readsPerSecond = 10
const pingsPerSecond = 2
export const pdfsPerSecond = 1

/** Longer than any bound; what takes longer still is a failure. */
const timeoutMillis = 20_000

const reasonOf = (error: unknown) =>
  error instanceof Error && error.name === "TimeoutError" ? `timeout of ${timeoutMillis / 1000} s` : "connection lost"

/** Begins to use the service at a steady pace; ends when asked, with all that was begun. */
export const beginMeasuring = (api: Api, own: Belongings, receiver: Receiver, nextInvoice: () => string) => {
  const reads: Array<number> = []
  const pings: Array<number> = []
  const pdfs: Array<number> = []
  const failures: Record<string, number> = {}
  const begun: Array<Promise<void>> = []
  const fail = (what: string) => {
    failures[what] = (failures[what] ?? 0) + 1
  }

  /** The answer, unless it is no success: then that is counted. */
  const ask = async (what: string, method: Method, path: string): Promise<Answer | undefined> => {
    try {
      const signal = AbortSignal.timeout(timeoutMillis)
      const answer = await api.call(method, path, { tenant: own.tenant, signal })
      if (answer.status < 300) return answer
      fail(`${what} ${answer.status}`)
    } catch (error) {
      fail(`${what} ${reasonOf(error)}`)
    }
    return undefined
  }

  const timed = async (times: Array<number>, what: string, path: string) => {
    const began = performance.now()
    await ask(what, "GET", path)
    times.push(performance.now() - began)
  }

  const ping = async () => {
    const began = performance.now()
    const answer = await ask("ping", "POST", `/integrations/${own.integration}/ping`)
    const arrived = answer && (await receiver.arrivalOf(idIn(answer), timeoutMillis))
    if (answer !== undefined && arrived === undefined) fail("ping not delivered")
    pings.push((arrived ?? performance.now()) - began)
  }

  let count = 0
  const read = () => {
    const isList = count++ % 2 === 0
    return timed(reads, "read", isList ? "/clients" : `/clients/${own.clients[count % own.clients.length]}`)
  }
  const pdf = () => timed(pdfs, "PDF", `/invoices/${nextInvoice()}/pdf`)

  const every = (perSecond: number, begin: () => Promise<void>) =>
    setInterval(() => begun.push(begin()), 1000 / perSecond)
  const timers = [every(readsPerSecond, read), every(pingsPerSecond, ping), every(pdfsPerSecond, pdf)]

  return async (): Promise<Figures> => {
    timers.forEach(clearInterval)
    await Promise.all(begun)
    return { reads, pings, pdfs, failures }
  }
}
