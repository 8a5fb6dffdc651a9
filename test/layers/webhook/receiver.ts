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

const listening = async (server: Server, address: string) => {
  const sockets = new Set<Socket>()
  server.on("connection", (socket: Socket) => {
    sockets.add(socket)
    // A sender who hangs up is what some tests are about.
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

/** Notes what comes before it answers. */
const noting =
  (received: Array<Received>, answer: RequestListener): RequestListener =>
  (request, response) => {
    const pieces: Array<Buffer> = []
    request.on("data", (piece: Buffer) => pieces.push(piece))
    request.on("end", () => {
      received.push({ headers: request.headers, body: Buffer.concat(pieces), path: request.url })
      answer(request, response)
    })
  }

const thanks: RequestListener = (_, response) => response.end("thanks")

/** A receiver on every address of this machine, or on one of them, until the test ends. */
export const receiver = async (answer: RequestListener = thanks, address = "0.0.0.0") => {
  const received: Array<Received> = []
  return { received, ...(await listening(createHttpServer(noting(received, answer)), address)) }
}

export const secureReceiver = async (answer: RequestListener = thanks) => {
  const received: Array<Received> = []
  const server = createHttpsServer({ ...certificate }, noting(received, answer))
  return { received, server, ...(await listening(server, "127.0.0.1")) }
}

/** A server that does with a connection what it likes. */
export const rawReceiver = (onData: (socket: Socket) => void) =>
  listening(
    net.createServer((socket) => socket.once("data", () => onData(socket))),
    "127.0.0.1"
  )
