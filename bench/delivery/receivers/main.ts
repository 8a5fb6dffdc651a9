import { createServer, type IncomingMessage, type ServerResponse } from "node:http"
import type { AddressInfo } from "node:net"
import type { Arrival, Behaviour, ReceiverCommand } from "./commands.ts"

const behaviours = new Map<number, Behaviour>()
const hangingResponses = new Map<number, Set<ServerResponse>>()
const seenDeliveries = new Set<string>()
const slowMillis = 14_000
let arrivals: Array<Arrival> = []

const now = () => performance.timeOrigin + performance.now()

const recordArrival = (port: number, arrivedAt: number, text: string) => {
  if (text === "") return
  // The body of an event, see the API.
  const { id, timestamp } = JSON.parse(text) as { readonly id: string; readonly timestamp: string }
  const key = `${port} ${id}`
  if (seenDeliveries.has(key)) return
  seenDeliveries.add(key)
  arrivals.push({ port, occurredAt: Date.parse(timestamp), arrivedAt })
}

const responders: Readonly<
  Record<Behaviour, (port: number, request: IncomingMessage, response: ServerResponse) => void>
> = {
  respond: (_, __, response) => response.end("{}"),
  hang: (port, _, response) => hangingResponses.get(port)?.add(response),
  fail: (_, __, response) => response.writeHead(500).end("no"),
  reset: (_, request) => request.socket.resetAndDestroy(),
  slow: (_, __, response) => setTimeout(() => response.end("{}"), slowMillis)
}

const makeListener = (port: () => number) => (request: IncomingMessage, response: ServerResponse) => {
  const arrivedAt = now()
  const chunks: Array<Buffer> = []
  request.on("error", () => {})
  request.on("data", (chunk: Buffer) => chunks.push(chunk))
  request.on("end", () => {
    const behaviour = behaviours.get(port()) ?? "respond"
    if (behaviour === "respond") recordArrival(port(), arrivedAt, Buffer.concat(chunks).toString())
    responders[behaviour](port(), request, response)
  })
}

const openReceiver = () =>
  new Promise<number>((resolve) => {
    let port = 0
    const server = createServer(
      { keepAliveTimeout: 60_000 },
      makeListener(() => port)
    )
    server.listen(0, "127.0.0.1", () => {
      port = (server.address() as AddressInfo).port // it listens on a TCP port
      resolve(port)
    })
  })

/** A change of behaviour also ends the requests that hang. */
const setBehaviour = (port: number, behaviour: Behaviour) => {
  for (const response of hangingResponses.get(port) ?? []) response.destroy()
  hangingResponses.set(port, new Set())
  behaviours.set(port, behaviour)
}

const takeArrivals = () => {
  const taken = arrivals
  arrivals = []
  return taken
}

const handleCommand = async (command: ReceiverCommand) => {
  switch (command.command) {
    case "open":
      return Promise.all(Array.from({ length: command.count }, openReceiver))
    case "behave":
      return setBehaviour(command.port, command.behaviour)
    case "count":
      return arrivals.length
    case "take":
      return takeArrivals()
  }
}

process.on("message", async (order: ReceiverCommand) => process.send?.({ result: await handleCommand(order) }))
process.on("disconnect", () => process.exit())
