import { randomUUID } from "node:crypto"
import {
  createServer,
  type IncomingMessage,
  type RequestListener,
  type Server,
  type ServerResponse,
  STATUS_CODES
} from "node:http"
import type { AddressInfo, Socket } from "node:net"
import type { Duplex } from "node:stream"
import { Effect, type Scope } from "effect"
import { type ConnectionLimits, noConnectionLimits } from "./ConnectionLimits.ts"
import { type HttpResponse, jsonResponse } from "./response/HttpResponse.ts"
import { writeResponse } from "./response/ResponseWriter.ts"

/** The response to what Node.js cannot parse. */
const respondWith = (status: number, error: string, message: string) =>
  jsonResponse(status, JSON.stringify({ error, message }))

const responseByErrorCode = new Map([
  ["HPE_HEADER_OVERFLOW", respondWith(431, "RequestHeaderFieldsTooLarge", "The URL and the headers are too long")],
  [
    "HPE_CHUNK_EXTENSIONS_OVERFLOW",
    respondWith(413, "PayloadTooLarge", "The chunk extensions of the body are too long")
  ],
  ["ERR_HTTP_REQUEST_TIMEOUT", respondWith(408, "RequestTimeout", "The request took too long to arrive")]
])
const malformedRequest = respondWith(400, "ValidationError", "The request is not valid HTTP")

/** Answers on a connection without a request, and closes it. */
const endWith = (socket: Duplex, { body = "", headers, status }: HttpResponse) => {
  const head = [
    `HTTP/1.1 ${status} ${STATUS_CODES[status]}`,
    "connection: close",
    ...Object.entries(headers).map(([name, value]) => `${name}: ${value}`),
    `content-length: ${Buffer.byteLength(String(body))}`,
    "x-content-type-options: nosniff",
    `x-request-id: ${randomUUID()}`
  ]
  return socket.end(`${head.join("\r\n")}\r\n\r\n${body}`)
}

/** Answers a request that Node.js cannot parse, in the shape of every other error. */
export const respondToClientError = (error: NodeJS.ErrnoException, socket: Duplex) =>
  error.code === "ECONNRESET" || !socket.writable
    ? socket.destroy()
    : endWith(socket, responseByErrorCode.get(error.code ?? "") ?? malformedRequest)

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

/** Requests of one connection that wait for the responses before theirs. Node.js parses all that a packet contains. */
const maxPipelined = 16

type Exchange = readonly [request: IncomingMessage, response: ServerResponse<IncomingMessage>]

/** What happens on one connection. */
class Connection {
  current: ServerResponse | undefined
  readonly pipelined: Array<Exchange> = []
}

/**
 * A server that tracks which connections are busy, so that it can drain them. It starts a pipelined request when the
 * response before it is sent, so that a client that reads nothing has one response in memory.
 */
const makeServer = (listener: RequestListener, limits: ConnectionLimits) => {
  const connections = new Map<Socket, Connection>()

  const run = (connection: Connection, ...[request, response]: Exchange) => {
    response.shouldKeepAlive &&= server.listening
    connection.current = response
    response.on("close", () => {
      connection.current = undefined
      const next = connections.has(request.socket) ? connection.pipelined.shift() : undefined
      if (next !== undefined) run(connection, ...next)
    })
    const rejection = limits.request(request, response)
    if (rejection === undefined) listener(request, response)
    else writeResponse(response, rejection, { "x-request-id": randomUUID() })
  }

  const server = createServer(serverOptions, (request, response) => {
    const { socket } = request
    const connection = connections.get(socket)
    // Without one, it was closed, and this is the rest of a packet.
    if (connection === undefined) return
    if (connection.current === undefined) return run(connection, request, response)
    if (connection.pipelined.push([request, response]) <= maxPipelined) return
    connections.delete(socket)
    socket.destroy()
  })
  server.on("checkExpectation", (request, response) => server.emit("request", request, response))
  server.on("clientError", (error, socket: Socket) =>
    // Once the headers are sent, such as a 401 before the body arrived, a second response would corrupt the stream.
    connections.get(socket)?.current?.headersSent ? socket.destroySoon() : respondToClientError(error, socket)
  )
  server.on("connection", (socket) => {
    const rejection = limits.connect(socket)
    if (rejection !== undefined) {
      endWith(socket, rejection)
      return socket.destroySoon()
    }
    connections.set(socket, new Connection())
    socket.on("close", () => connections.delete(socket))
  })
  /** Stops accepting, lets running requests finish, and closes what is left after the timeout. */
  const drain = Effect.async<void>((resume) => {
    const timer = setTimeout(() => server.closeAllConnections(), drainTimeoutMs)
    server.close(() => {
      clearTimeout(timer)
      resume(Effect.void)
    })
    for (const [socket, { current }] of connections) {
      if (current === undefined) socket.destroySoon()
      else current.shouldKeepAlive = false
    }
  })
  return { server, drain }
}

/** Listens until the scope closes, then drains. The listener's dependencies must outlive that scope. */
export const listen = (
  listener: RequestListener,
  address: { readonly host: string; readonly port: number },
  limits = noConnectionLimits
) =>
  Effect.acquireRelease(
    Effect.async<{ readonly server: Server; readonly drain: Effect.Effect<void> }, Error>((resume) => {
      const created = makeServer(listener, limits)
      created.server.once("error", (error) => resume(Effect.fail(error)))
      created.server.listen({ ...address, backlog }, () => resume(Effect.succeed(created)))
    }),
    ({ drain }) => drain
  ).pipe(
    // The address is a string only for a pipe; this server listens on TCP.
    Effect.map(({ server }) => (server.address() as AddressInfo).port)
  ) satisfies Effect.Effect<number, Error, Scope.Scope>
