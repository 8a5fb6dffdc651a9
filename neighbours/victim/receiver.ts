import { createServer } from "node:http"
import type { AddressInfo } from "node:net"
import { text } from "node:stream/consumers"

/** A receiver of webhooks that answers at once, and tells when an event arrived. */
export const openReceiver = async () => {
  const arrived = new Map<string, number>()
  const waiting = new Map<string, (at: number) => void>()

  const server = createServer(async (request, response) => {
    const at = performance.now()
    const body = await text(request)
    response.end("{}")
    const { id } = JSON.parse(body) as { readonly id: string } // the service's own text
    if (arrived.has(id)) return
    arrived.set(id, at)
    waiting.get(id)?.(at)
    waiting.delete(id)
  })
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve))

  return {
    port: (server.address() as AddressInfo).port, // it listens on a port
    /** When the event arrived, or `undefined` when it has not within the time. */
    arrivalOf: (id: string, timeoutMillis: number) => {
      const at = arrived.get(id)
      if (at !== undefined) return Promise.resolve(at)
      return new Promise<number | undefined>((resolve) => {
        const timer = setTimeout(() => resolve(undefined), timeoutMillis)
        waiting.set(id, (at) => {
          clearTimeout(timer)
          resolve(at)
        })
      })
    }
  }
}

export type Receiver = Awaited<ReturnType<typeof openReceiver>>
