import { createServer as createHttpServer, type IncomingHttpHeaders, type RequestListener } from "node:http"
import { createServer as createHttpsServer } from "node:https"
import net, { type AddressInfo, type Server, type Socket } from "node:net"
import { onTestFinished } from "vitest"
import { certificate } from "./certificate.ts"

interface Received {
  readonly headers: IncomingHttpHeaders
  readonly body: Buffer
  readonly path: string | undefined
}

const listen = async (server: Server, address: string) => {
  const sockets = new Set<Socket>()
  server.on("connection", (socket: Socket) => {
    sockets.add(socket)
    // Some tests abort the connection.
    socket.on("error", () => {})
  })
  await new Promise<void>((resolve) => server.listen(0, address, resolve))
  onTestFinished(() => {
    for (const socket of sockets) socket.destroy()
    return new Promise<void>((resolve) => server.close(() => resolve()))
  })
  const { port } = server.address() as AddressInfo // neither a pipe nor closed
  return { port, connections: () => sockets.size }
}

/** Records each request before it responds. */
const recording =
  (received: Array<Received>, respond: RequestListener): RequestListener =>
  (request, response) => {
    const pieces: Array<Buffer> = []
    request.on("data", (piece: Buffer) => pieces.push(piece))
    request.on("end", () => {
      received.push({ headers: request.headers, body: Buffer.concat(pieces), path: request.url })
      respond(request, response)
    })
  }

const thank: RequestListener = (_, response) => response.end("thanks")

/** A receiver on all local addresses, or on the given one, until the test ends. */
export const startReceiver = async (respond: RequestListener = thank, address = "0.0.0.0") => {
  const received: Array<Received> = []
  return { received, ...(await listen(createHttpServer(recording(received, respond)), address)) }
}

export const startTlsReceiver = async (respond: RequestListener = thank) => {
  const received: Array<Received> = []
  const server = createHttpsServer({ ...certificate }, recording(received, respond))
  return { received, server, ...(await listen(server, "127.0.0.1")) }
}

/** A TCP server with a custom response to the first data. */
export const startRawReceiver = (onData: (socket: Socket) => void) =>
  listen(
    net.createServer((socket) => socket.once("data", () => onData(socket))),
    "127.0.0.1"
  )
