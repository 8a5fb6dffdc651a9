import { once } from "node:events"
import { connect, createServer, type Server, type Socket } from "node:net"

const host = "127.0.0.1"

/** Below the range outgoing ports are taken from, so that nobody is given the port while the proxy is shut. */
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

/** A port of this machine on which nobody listens. */
export const findClosedPort = async () => {
  const server = createServer()
  const port = await listenAnywhere(server)
  server.close()
  await once(server, "close")
  return port
}

/** A door before a server (`address` is its URL), which can be shut in the ways a network knows. */
export const startProxy = async (address: string) => {
  const target = new URL(address)
  const sockets = new Set<Socket>()
  let isStalled = false
  let lost: string | undefined

  const follow = (socket: Socket, other: Socket) => {
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

  /** Lets the message through and ends the connection in the place of the answer. */
  const loseAnswer = (near: Socket, far: Socket) => {
    lost = undefined
    far.removeAllListeners("data")
    far.once("data", () => near.resetAndDestroy())
  }

  const server = createServer((near) => {
    const far = connect(Number(target.port), target.hostname)
    follow(near, far)
    follow(far, near)
    near.on("data", (chunk) => lost !== undefined && chunk.includes(lost) && loseAnswer(near, far))
  })
  const port = await listenAnywhere(server)
  const url = new URL(address)
  url.hostname = host
  url.port = String(port)

  /** Ends every connection and refuses new ones. */
  const cut = async () => {
    const closed = once(server, "close")
    server.close()
    for (const socket of sockets) socket.resetAndDestroy()
    await closed
  }

  return {
    url: url.href,
    cut,
    restore: () => listen(server, port),
    /** Keeps connections and takes new ones, but passes nothing on. */
    stall: () => {
      isStalled = true
      for (const socket of sockets) socket.pause()
    },
    /** Passes on what was held back, and whatever comes. */
    flow: () => {
      isStalled = false
      for (const socket of sockets) socket.resume()
    },
    /** Ends the connection on which the next message with this text comes, once that was done and before it is heard. */
    loseAnswerTo: (text: string) => {
      lost = text
    },
    stop: () => (server.listening ? cut() : Promise.resolve())
  }
}

export type Proxy = Awaited<ReturnType<typeof startProxy>>
