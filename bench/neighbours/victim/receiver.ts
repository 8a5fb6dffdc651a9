import { createServer } from "node:http"
import type { AddressInfo } from "node:net"
import { text } from "node:stream/consumers"

/** A webhook receiver that responds at once and records arrivals. */
export const openReceiver = async () => {
  const arrivals = new Map<string, number>()
  const waiters = new Map<string, (at: number) => void>()

  const server = createServer(async (request, response) => {
    const at = performance.now()
    const body = await text(request)
    response.end("{}")
    const { id } = JSON.parse(body) as { readonly id: string } // the body of an event
    if (arrivals.has(id)) return
    arrivals.set(id, at)
    waiters.get(id)?.(at)
    waiters.delete(id)
  })
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve))

  return {
    port: (server.address() as AddressInfo).port, // it listens on a TCP port
    /** The time of arrival, or undefined after the timeout. */
    waitForArrival: (id: string, timeoutMillis: number) => {
      const at = arrivals.get(id)
      if (at !== undefined) return Promise.resolve(at)
      return new Promise<number | undefined>((resolve) => {
        const timer = setTimeout(() => resolve(undefined), timeoutMillis)
        waiters.set(id, (at) => {
          clearTimeout(timer)
          resolve(at)
        })
      })
    }
  }
}

export type Receiver = Awaited<ReturnType<typeof openReceiver>>
