import { createServer, type IncomingMessage, type ServerResponse } from "node:http"
import type { AddressInfo } from "node:net"
import type { Arrival, Behaviour, Order } from "./orders.ts"

const behaviours = new Map<number, Behaviour>()
const hanging = new Map<number, Set<ServerResponse>>()
const seen = new Set<string>()
const slowMillis = 14_000
let arrivals: Array<Arrival> = []

const now = () => performance.timeOrigin + performance.now()

const note = (port: number, at: number, text: string) => {
  if (text === "") return
  // The service's own text: these are its fields.
  const { id, timestamp } = JSON.parse(text) as { readonly id: string; readonly timestamp: string }
  const key = `${port} ${id}`
  if (seen.has(key)) return
  seen.add(key)
  arrivals.push({ port, happened: Date.parse(timestamp), at })
}

const answers: Readonly<Record<Behaviour, (port: number, request: IncomingMessage, response: ServerResponse) => void>> =
  {
    answer: (_, __, response) => response.end("{}"),
    hang: (port, _, response) => hanging.get(port)?.add(response),
    fail: (_, __, response) => response.writeHead(500).end("no"),
    reset: (_, request) => request.socket.resetAndDestroy(),
    slow: (_, __, response) => setTimeout(() => response.end("{}"), slowMillis)
  }

const listener = (port: () => number) => (request: IncomingMessage, response: ServerResponse) => {
  const at = now()
  const pieces: Array<Buffer> = []
  request.on("error", () => {})
  request.on("data", (piece: Buffer) => pieces.push(piece))
  request.on("end", () => {
    const behaviour = behaviours.get(port()) ?? "answer"
    if (behaviour === "answer") note(port(), at, Buffer.concat(pieces).toString())
    answers[behaviour](port(), request, response)
  })
}

const open = () =>
  new Promise<number>((resolve) => {
    let port = 0
    const server = createServer(
      { keepAliveTimeout: 60_000 },
      listener(() => port)
    )
    server.listen(0, "127.0.0.1", () => {
      port = (server.address() as AddressInfo).port // it listens on a port
      resolve(port)
    })
  })

/** Whoever hung until now hangs no longer than the receiver is said to. */
const behave = (port: number, as: Behaviour) => {
  for (const response of hanging.get(port) ?? []) response.destroy()
  hanging.set(port, new Set())
  behaviours.set(port, as)
}

const take = () => {
  const taken = arrivals
  arrivals = []
  return taken
}

const obey = async (order: Order) => {
  switch (order.order) {
    case "open":
      return Promise.all(Array.from({ length: order.count }, open))
    case "behave":
      return behave(order.port, order.as)
    case "count":
      return arrivals.length
    case "take":
      return take()
  }
}

process.on("message", async (order: Order) => process.send?.({ answer: await obey(order) }))
process.on("disconnect", () => process.exit())
