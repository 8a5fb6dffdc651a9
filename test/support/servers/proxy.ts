import { once } from "node:events"
import { connect, createServer, type Server, type Socket } from "node:net"

const host = "127.0.0.1"

/** Below the ephemeral range, so that no process gets the port while the proxy is closed. */
const anyPort = () => 15_000 + Math.floor(Math.random() * 17_000)

const listen = async (server: Server, port: number) => {
  server.listen(port, host)
  await once(server, "listening")
}

const listenAnywhere = async (server: Server): Promise<number> => {
  const port = anyPort()
  return listen(server, port).then(
    () => port,
    () => listenAnywhere(server)
  )
}

/** A port on which no process listens. */
export const findClosedPort = async () => {
  const server = createServer()
  const port = await listenAnywhere(server)
  server.close()
  await once(server, "close")
  return port
}

/** A TCP proxy in front of a server that can fail like a network. */
export const startProxy = async (address: string) => {
  const target = new URL(address)
  const sockets = new Set<Socket>()
  let isStalled = false
  let droppedText: string | undefined

  const forward = (socket: Socket, other: Socket) => {
    sockets.add(socket)
    if (isStalled) socket.pause()
    socket.on("data", (chunk) => other.write(chunk))
    socket.on("error", () => {})
    socket.on("close", () => {
      sockets.delete(socket)
      other.destroy()
    })
    if (isStalled) socket.pause()
  }

  /** Forwards the message, and resets the connection in place of the response. */
  const dropResponse = (client: Socket, upstream: Socket) => {
    droppedText = undefined
    upstream.removeAllListeners("data")
    upstream.once("data", () => client.resetAndDestroy())
  }

  const server = createServer((client) => {
    const upstream = connect(Number(target.port), target.hostname)
    forward(client, upstream)
    forward(upstream, client)
    client.on(
      "data",
      (chunk) => droppedText !== undefined && chunk.includes(droppedText) && dropResponse(client, upstream)
    )
  })
  const port = await listenAnywhere(server)
  const url = new URL(address)
  url.hostname = host
  url.port = String(port)

  /** Resets all connections and refuses new ones. */
  const disconnect = async () => {
    const closed = once(server, "close")
    server.close()
    for (const socket of sockets) socket.resetAndDestroy()
    await closed
  }

  return {
    url: url.href,
    disconnect,
    restore: () => listen(server, port),
    /** Accepts connections, but forwards nothing. */
    stall: () => {
      isStalled = true
      for (const socket of sockets) socket.pause()
    },
    /** Forwards what was stalled and everything after. */
    resume: () => {
      isStalled = false
      for (const socket of sockets) socket.resume()
    },
    /**
     * Resets the connection of the next message with this text after the server has received it, before its response
     * arrives.
     */
    dropResponseTo: (text: string) => {
      droppedText = text
    },
    stop: () => (server.listening ? disconnect() : Promise.resolve())
  }
}

export type Proxy = Awaited<ReturnType<typeof startProxy>>
