import { randomUUID } from "node:crypto"
import { createServer, type RequestListener, type Server, type ServerResponse, STATUS_CODES } from "node:http"
import type { AddressInfo, Socket } from "node:net"
import type { Duplex } from "node:stream"
import { Effect, type Scope } from "effect"

const responseByErrorCode = new Map<string, readonly [status: number, error: string, message: string]>([
  ["HPE_HEADER_OVERFLOW", [431, "RequestHeaderFieldsTooLarge", "The URL and the headers are too long"]],
  ["HPE_CHUNK_EXTENSIONS_OVERFLOW", [413, "PayloadTooLarge", "The chunk extensions of the body are too long"]],
  ["ERR_HTTP_REQUEST_TIMEOUT", [408, "RequestTimeout", "The request took too long to arrive"]]
])
const malformedRequest = [400, "ValidationError", "The request is not valid HTTP"] as const

/** Answers a request that Node.js cannot parse, in the shape of every other error, and closes the connection. */
export const respondToClientError = (error: NodeJS.ErrnoException, socket: Duplex) => {
  if (error.code === "ECONNRESET" || !socket.writable) return socket.destroy()
  const [status, name, message] = responseByErrorCode.get(error.code ?? "") ?? malformedRequest
  const body = JSON.stringify({ error: name, message })
  const head = [
    `HTTP/1.1 ${status} ${STATUS_CODES[status]}`,
    "connection: close",
    "content-type: application/json",
    `content-length: ${Buffer.byteLength(body)}`,
    "x-content-type-options: nosniff",
    `x-request-id: ${randomUUID()}`
  ]
  return socket.end(`${head.join("\r\n")}\r\n\r\n${body}`)
}

/** A slow client has a minute for its request. Idle connections outlive the usual 60 seconds of proxies. */
const serverOptions = {
  requestTimeout: 60_000,
  headersTimeout: 20_000,
  keepAliveTimeout: 65_000,
  requireHostHeader: false
}

export const drainTimeoutMs = 20_000

/** The accept queue. Beyond it the kernel drops the SYN and the client, probes included, retries after a second. */
const backlog = 4096

/** A server that tracks which connections are busy, so that it can drain them. */
const makeServer = (listener: RequestListener) => {
  const activeResponses = new Map<Socket, ServerResponse | undefined>()
  /** Responses to pipelined requests that wait for an earlier response on the same connection. */
  const pipelined = new Map<Socket, Set<ServerResponse>>()
  const trackPipelined = (socket: Socket, response: ServerResponse) => {
    const responses = pipelined.get(socket) ?? new Set()
    pipelined.set(socket, responses.add(response))
    response.once("close", () => responses.delete(response))
  }
  /** When a connection closes, Node.js closes only the current response and never emits `close` for pipelined ones. */
  const closePipelined = (socket: Socket) => {
    for (const response of pipelined.get(socket) ?? []) if (response.socket === null) response.destroy().emit("close")
    pipelined.delete(socket)
  }
  const server = createServer(serverOptions, (request, response) => {
    response.shouldKeepAlive &&= server.listening
    activeResponses.set(request.socket, response)
    if (response.socket === null) trackPipelined(request.socket, response)
    response.on("close", () => activeResponses.has(request.socket) && activeResponses.set(request.socket, undefined))
    listener(request, response)
  })
  server.on("checkExpectation", (request, response) => server.emit("request", request, response))
  server.on("clientError", (error, socket: Socket) =>
    // Once the headers are sent, such as a 401 before the body arrived, a second response would corrupt the stream.
    activeResponses.get(socket)?.headersSent ? socket.destroySoon() : respondToClientError(error, socket)
  )
  server.on("connection", (socket) => {
    activeResponses.set(socket, undefined)
    socket.on("close", () => {
      activeResponses.delete(socket)
      closePipelined(socket)
    })
  })
  /** Stops accepting, lets running requests finish, and closes what is left after the timeout. */
  const drain = Effect.async<void>((resume) => {
    const timer = setTimeout(() => server.closeAllConnections(), drainTimeoutMs)
    server.close(() => {
      clearTimeout(timer)
      resume(Effect.void)
    })
    for (const [socket, response] of activeResponses) {
      if (response === undefined) socket.destroySoon()
      else response.shouldKeepAlive = false
    }
  })
  return { server, drain }
}

/** Listens until the scope closes, then drains. The listener's dependencies must outlive that scope. */
export const listen = (listener: RequestListener, address: { readonly host: string; readonly port: number }) =>
  Effect.acquireRelease(
    Effect.async<{ readonly server: Server; readonly drain: Effect.Effect<void> }, Error>((resume) => {
      const created = makeServer(listener)
      created.server.once("error", (error) => resume(Effect.fail(error)))
      created.server.listen({ ...address, backlog }, () => resume(Effect.succeed(created)))
    }),
    ({ drain }) => drain
  ).pipe(
    // The address is a string only for a pipe; this server listens on TCP.
    Effect.map(({ server }) => (server.address() as AddressInfo).port)
  ) satisfies Effect.Effect<number, Error, Scope.Scope>
