import { createServer, type IncomingMessage, type ServerResponse } from "node:http"
import type { AddressInfo } from "node:net"

export interface ApiRequest {
  readonly method: string
  readonly url: URL
  readonly headers: IncomingMessage["headers"]
  readonly body: Buffer
}

export type ApiHandler = (asked: ApiRequest, response: ServerResponse) => void | Promise<void>

export const sendJson = (
  response: ServerResponse,
  status: number,
  body: unknown,
  headers: Record<string, string> = {}
) => void response.writeHead(status, { "content-type": "application/json", ...headers }).end(JSON.stringify(body))

export const bearerOf = ({ headers }: Pick<ApiRequest, "headers">) =>
  headers.authorization?.replace(/^Bearer /, "") ?? ""

/** A server in place of a provider's API. A test can intercept its requests. */
export const startJsonServer = async (handle: ApiHandler) => {
  const requests: Array<ApiRequest> = []
  const state: {
    interceptor: ((requests: ApiRequest, response: ServerResponse) => boolean | Promise<boolean>) | undefined
  } = {
    interceptor: undefined
  }
  const server = createServer(async (request, response) => {
    const chunks: Array<Buffer> = []
    for await (const chunk of request) chunks.push(chunk)
    const url = new URL(request.url ?? "/", "http://server")
    const recorded = { method: request.method ?? "", url, headers: request.headers, body: Buffer.concat(chunks) }
    requests.push(recorded)
    if (state.interceptor === undefined || !(await state.interceptor(recorded, response)))
      await handle(recorded, response)
  })
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve))
  const { port } = server.address() as AddressInfo // it listens on a port
  return {
    url: `http://127.0.0.1:${port}`,
    requests,
    /** Sets a function that returns whether it responds to a request; the server responds to all others. */
    intercept: (next: typeof state.interceptor) => {
      state.interceptor = next
    },
    stop: async () => {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    }
  }
}
