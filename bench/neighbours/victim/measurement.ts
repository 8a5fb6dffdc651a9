import { type Api, type ApiResponse, type Method, parseId } from "../api.ts"
import type { Measurements } from "./commands.ts"
import type { Receiver } from "./receiver.ts"
import type { VictimData } from "./victimData.ts"

/** The rates of the victim's requests, whether or not earlier ones are done. */
export const readsPerSecond = 10
const pingsPerSecond = 2
export const pdfsPerSecond = 1

/** Longer than every bound. A slower request is a failure. */
const timeoutMillis = 20_000

const describeFailure = (error: unknown) =>
  error instanceof Error && error.name === "TimeoutError" ? `timeout of ${timeoutMillis / 1000} s` : "connection lost"

/** Starts requests at constant rates. Returns a function that stops, and waits for open requests. */
export const startMeasurement = (api: Api, data: VictimData, receiver: Receiver, nextInvoice: () => string) => {
  const reads: Array<number> = []
  const pings: Array<number> = []
  const pdfs: Array<number> = []
  const failures: Record<string, number> = {}
  const requests: Array<Promise<void>> = []
  const countFailure = (key: string) => {
    failures[key] = (failures[key] ?? 0) + 1
  }

  /** Returns a successful response, or counts the failure. */
  const request = async (key: string, method: Method, path: string): Promise<ApiResponse | undefined> => {
    try {
      const signal = AbortSignal.timeout(timeoutMillis)
      const response = await api.call(method, path, { tenant: data.tenant, signal })
      if (response.status < 300) return response
      countFailure(`${key} ${response.status}`)
    } catch (error) {
      countFailure(`${key} ${describeFailure(error)}`)
    }
    return undefined
  }

  const timeRead = async (times: Array<number>, key: string, path: string) => {
    const startedAt = performance.now()
    await request(key, "GET", path)
    times.push(performance.now() - startedAt)
  }

  const ping = async () => {
    const startedAt = performance.now()
    const response = await request("ping", "POST", `/integrations/${data.integration}/ping`)
    const arrivedAt = response && (await receiver.waitForArrival(parseId(response), timeoutMillis))
    if (response !== undefined && arrivedAt === undefined) countFailure("ping not delivered")
    pings.push((arrivedAt ?? performance.now()) - startedAt)
  }

  let count = 0
  const read = () => {
    const isList = count++ % 2 === 0
    return timeRead(reads, "read", isList ? "/clients" : `/clients/${data.clients[count % data.clients.length]}`)
  }
  const pdf = () => timeRead(pdfs, "PDF", `/invoices/${nextInvoice()}/pdf`)

  const repeatAtRate = (perSecond: number, start: () => Promise<void>) =>
    setInterval(() => requests.push(start()), 1000 / perSecond)
  const timers = [
    repeatAtRate(readsPerSecond, read),
    repeatAtRate(pingsPerSecond, ping),
    repeatAtRate(pdfsPerSecond, pdf)
  ]

  return async (): Promise<Measurements> => {
    timers.forEach(clearInterval)
    await Promise.all(requests)
    return { reads, pings, pdfs, failures }
  }
}
