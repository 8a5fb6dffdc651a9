import { once } from "node:events"
import { connect } from "node:net"
import { probeOnce } from "../../overload/probe.ts"
import type { Row } from "../row.ts"

const connections = 1100
/** More than these at once close the connection. */
const pipelined = 16
const path = "/docs/openapi.json"
const probeMillis = 250
const maxHealthMillis = 1000
/** Not the victim's address: limits count per address. */
const localAddress = "127.0.0.66"

const requests = `GET ${path} HTTP/1.1\r\nhost: a\r\n\r\n`.repeat(pipelined)

const sleep = (millis: number) => new Promise((resolve) => setTimeout(resolve, millis))

/** Sends pipelined requests over a connection and reads no response. */
const openUnread = (port: number) => {
  const socket = connect({ port, host: "127.0.0.1", localAddress }).pause()
  socket.on("error", () => {})
  socket.write(requests)
  return socket
}

export const unreadPages: Row = {
  name: `${connections} anonymous connections that pipeline ${pipelined} GET ${path} each and read nothing`,
  prepare: async ({ baseUrl }) => {
    const port = Number(new URL(baseUrl).port)
    // The first request makes the document.
    await (await fetch(baseUrl + path)).arrayBuffer()
    let slowestHealth = 0
    const probeUntil = async (signal: AbortSignal) => {
      while (!signal.aborted) {
        const startedAt = performance.now()
        await probeOnce(baseUrl, "/healthz")
        slowestHealth = Math.max(slowestHealth, performance.now() - startedAt)
        await sleep(probeMillis)
      }
    }
    return {
      run: async (signal) => {
        const sockets = Array.from({ length: connections }, () => openUnread(port))
        const probing = probeUntil(signal)
        if (!signal.aborted) await once(signal, "abort")
        for (const socket of sockets) socket.destroy()
        await probing
      },
      check: async () => [
        {
          description: `/healthz took up to ${slowestHealth.toFixed(0)} ms`,
          isViolation: slowestHealth > maxHealthMillis
        }
      ]
    }
  }
}
