import { createServer, type IncomingMessage, type ServerResponse } from "node:http"
import type { AddressInfo } from "node:net"

export interface ReceivedRequest {
  readonly path: string
  readonly headers: Readonly<Record<string, string>>
  readonly text: string
  readonly at: number
}

const readText = async (request: IncomingMessage) => {
  const chunks: Array<Buffer> = []
  for await (const chunk of request) chunks.push(chunk)
  return Buffer.concat(chunks).toString()
}

type Respond = (received: ReceivedRequest, response: ServerResponse) => void

const ok: Respond = (_, response) => response.end("{}")

/** A receiver of webhooks that records its requests. A test can change how it responds. */
export const startReceiver = async (respond: Respond = ok) => {
  const received: Array<ReceivedRequest> = []
  const state = { respond }
  const server = createServer(async (request, response) => {
    const text = await readText(request).catch(() => undefined)
    if (text === undefined) return
    const headers = Object.fromEntries(Object.entries(request.headers).map(([name, value]) => [name, String(value)]))
    const recorded = { path: request.url ?? "", headers, text, at: Date.now() }
    received.push(recorded)
    state.respond(recorded, response)
  })
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve))
  const { port } = server.address() as AddressInfo // it listens on a port
  return {
    url: `http://127.0.0.1:${port}`,
    received,
    respondWith: (next: Respond) => {
      state.respond = next
    },
    stop: async () => {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    }
  }
}

export type Receiver = Awaited<ReturnType<typeof startReceiver>>
