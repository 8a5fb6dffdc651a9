import { createServer, type IncomingMessage, type ServerResponse } from "node:http"
import type { AddressInfo } from "node:net"

export interface ReceivedRequest {
  readonly path: string
  readonly headers: Readonly<Record<string, string>>
  readonly text: string
  readonly at: number
}

const textOf = async (request: IncomingMessage) => {
  const pieces: Array<Buffer> = []
  for await (const piece of request) pieces.push(piece)
  return Buffer.concat(pieces).toString()
}

type Answering = (received: ReceivedRequest, response: ServerResponse) => void

const ok: Answering = (_, response) => response.end("{}")

/** A receiver of webhooks that records its requests. A test can change how it responds. */
export const startReceiver = async (answering: Answering = ok) => {
  const received: Array<ReceivedRequest> = []
  const state = { answering }
  const server = createServer(async (request, response) => {
    const text = await textOf(request).catch(() => undefined)
    if (text === undefined) return
    const headers = Object.fromEntries(Object.entries(request.headers).map(([name, value]) => [name, String(value)]))
    const one = { path: request.url ?? "", headers, text, at: Date.now() }
    received.push(one)
    state.answering(one, response)
  })
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve))
  const { port } = server.address() as AddressInfo // it listens on a port
  return {
    url: `http://127.0.0.1:${port}`,
    received,
    respondWith: (next: Answering) => {
      state.answering = next
    },
    stop: async () => {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    }
  }
}

export type Receiver = Awaited<ReturnType<typeof startReceiver>>
