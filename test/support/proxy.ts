import { once } from "node:events"
import { type AddressInfo, connect, createServer, type Socket } from "node:net"

/** A door before a server, which can be shut in the ways a network knows. */
export const startProxy = async (target: { readonly host: string; readonly port: number }) => {
  let stalled = false
  const sockets = new Set<Socket>()

  const keep = (socket: Socket) => {
    sockets.add(socket)
    socket.on("close", () => sockets.delete(socket))
    socket.on("error", () => {})
    if (stalled) socket.pause()
    return socket
  }

  const server = createServer((near) => {
    const far = keep(connect(target.port, target.host))
    keep(near)
    near.on("data", (chunk) => far.write(chunk))
    far.on("data", (chunk) => near.write(chunk))
    near.on("close", () => far.destroy())
    far.on("close", () => near.destroy())
  })
  const listen = async (port: number) => {
    server.listen(port, "127.0.0.1")
    await once(server, "listening")
  }
  await listen(0)
  // A TCP server's address is never a pipe's name.
  const { port } = server.address() as AddressInfo

  /** Ends every connection and refuses new ones. */
  const cut = async () => {
    const closed = once(server, "close")
    server.close()
    for (const socket of sockets) socket.resetAndDestroy()
    await closed
  }

  return {
    port,
    cut,
    restore: () => listen(port),
    /** Keeps and takes connections, and passes nothing on. */
    stall: () => {
      stalled = true
      for (const socket of sockets) socket.pause()
    },
    /** Passes on all that was held back. */
    flow: () => {
      stalled = false
      for (const socket of sockets) socket.resume()
    },
    connections: () => sockets.size / 2,
    stop: () => (server.listening ? cut() : Promise.resolve())
  }
}

export type Proxy = Awaited<ReturnType<typeof startProxy>>
