import { createServer, type RequestListener, type Server, type ServerResponse } from "node:http"
import type { AddressInfo, Socket } from "node:net"
import { Effect, type Scope } from "effect"
import { unreadable } from "./Unreadable.ts"

/** A slow sender may take a minute for its request, and an idle connection is kept for longer than proxies do. */
const options = { requestTimeout: 60_000, headersTimeout: 20_000, keepAliveTimeout: 65_000, requireHostHeader: false }

const drainMillis = 20_000

/** Connections that wait to be accepted. One beyond them is tried again by its sender a second later, probes included. */
const backlog = 4096

/** A server that knows which of its connections are at work, so that it can be drained. */
const makeServer = (listener: RequestListener) => {
  const answers = new Map<Socket, ServerResponse | undefined>()
  /** Answers to requests that came before those before them were answered, while they wait for the connection. */
  const waiting = new Map<Socket, Set<ServerResponse>>()
  const wait = (socket: Socket, response: ServerResponse) => {
    const others = waiting.get(socket) ?? new Set()
    waiting.set(socket, others.add(response))
    response.once("close", () => others.delete(response))
  }
  /** Node.js closes the answer whose turn it is with the connection, and leaves the others open for ever. */
  const closeWaiting = (socket: Socket) => {
    for (const response of waiting.get(socket) ?? []) if (response.socket === null) response.destroy().emit("close")
    waiting.delete(socket)
  }
  const server = createServer(options, (request, response) => {
    response.shouldKeepAlive &&= server.listening
    answers.set(request.socket, response)
    if (response.socket === null) wait(request.socket, response)
    response.on("close", () => answers.has(request.socket) && answers.set(request.socket, undefined))
    listener(request, response)
  })
  server.on("checkExpectation", (request, response) => server.emit("request", request, response))
  server.on("clientError", (error, socket: Socket) =>
    // What was answered already, such as a request whose sender is unknown, is answered once.
    answers.get(socket)?.headersSent ? socket.destroySoon() : unreadable(error, socket)
  )
  server.on("connection", (socket) => {
    answers.set(socket, undefined)
    socket.on("close", () => {
      answers.delete(socket)
      closeWaiting(socket)
    })
  })
  /** Takes no more connections, lets what is under way finish, and cuts what does not. */
  const drain = Effect.async<void>((resume) => {
    const deadline = setTimeout(() => server.closeAllConnections(), drainMillis)
    server.close(() => {
      clearTimeout(deadline)
      resume(Effect.void)
    })
    for (const [socket, response] of answers) {
      if (response === undefined) socket.destroySoon()
      else response.shouldKeepAlive = false
    }
  })
  return { server, drain }
}

/** Listens until its scope closes, then drains; what the listener needs must outlive that scope. */
export const listen = (listener: RequestListener, address: { readonly host: string; readonly port: number }) =>
  Effect.acquireRelease(
    Effect.async<{ readonly server: Server; readonly drain: Effect.Effect<void> }, Error>((resume) => {
      const made = makeServer(listener)
      made.server.once("error", (error) => resume(Effect.fail(error)))
      made.server.listen({ ...address, backlog }, () => resume(Effect.succeed(made)))
    }),
    ({ drain }) => drain
  ).pipe(
    // Listening on a TCP port, a server's address is never a pipe's name.
    Effect.map(({ server }) => (server.address() as AddressInfo).port)
  ) satisfies Effect.Effect<number, Error, Scope.Scope>
