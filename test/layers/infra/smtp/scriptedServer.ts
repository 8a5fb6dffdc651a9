import net, { type AddressInfo, type Socket } from "node:net"
import tls from "node:tls"
import { onTestFinished } from "vitest"
import { certificate } from "../webhook/certificate.ts"

/** What a server does at a point of the session. `CUT` closes the connection, `SILENT` never answers. */
export type Reply = string | "CUT" | "SILENT"

export const stages = ["CONNECT", "EHLO", "STARTTLS", "AUTH", "MAIL", "RCPT", "DATA", "END"] as const
export type Stage = (typeof stages)[number]

const replies: Readonly<Record<Stage | "QUIT", string>> = {
  CONNECT: "220 ready",
  EHLO: "250-scripted\r\n250-STARTTLS\r\n250 AUTH PLAIN",
  STARTTLS: "220 go on",
  AUTH: "235 welcome",
  MAIL: "250 sender ok",
  RCPT: "250 recipient ok",
  DATA: "354 end with a dot",
  END: "250 queued as 1",
  QUIT: "221 bye"
}

const commands = ["EHLO", "STARTTLS", "AUTH", "MAIL", "RCPT", "DATA", "QUIT"] as const

/** A client that EHLO failed for tries HELO. */
const stageOf = (line: string) => commands.find((name) => line.replace(/^HELO/, "EHLO").startsWith(name))

/** An SMTP server that answers as told, for what a real server cannot be made to do. It records complete messages. */
export const startScriptedServer = async (script: Partial<Record<Stage, Reply>>) => {
  const messages: Array<string> = []
  const reached: Array<Stage | "QUIT"> = []
  const sockets = new Set<Socket>()

  const serve = (socket: Socket, greets: boolean) => {
    let buffered = ""
    let isReadingData = false
    socket.on("error", () => {})
    const answer = (stage: Stage | "QUIT") => {
      reached.push(stage)
      const reply = (stage === "QUIT" ? undefined : script[stage]) ?? replies[stage]
      if (reply === "CUT") return void socket.destroy()
      if (reply === "SILENT") return
      socket.write(`${reply}\r\n`)
      if (stage === "DATA" && reply.startsWith("3")) isReadingData = true
      if (stage === "STARTTLS" && reply.startsWith("2")) upgrade()
    }
    const upgrade = () => {
      socket.removeAllListeners("data")
      serve(new tls.TLSSocket(socket, { isServer: true, ...certificate }), false)
    }
    const readMessage = () => {
      const end = buffered.indexOf("\r\n.\r\n")
      if (end === -1) return false
      messages.push(buffered.slice(0, end))
      buffered = buffered.slice(end + 5)
      isReadingData = false
      answer("END")
      return true
    }
    const readCommand = () => {
      const end = buffered.indexOf("\r\n")
      if (end === -1) return false
      const stage = stageOf(buffered.slice(0, end))
      buffered = buffered.slice(end + 2)
      if (stage !== undefined) answer(stage)
      return true
    }
    socket.on("data", (chunk: Buffer) => {
      buffered += chunk.toString("latin1")
      while (isReadingData ? readMessage() : readCommand());
    })
    if (greets) answer("CONNECT")
  }

  const server = net.createServer((socket) => {
    sockets.add(socket)
    serve(socket, true)
  })
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve))
  onTestFinished(() => {
    for (const socket of sockets) socket.destroy()
    return new Promise<void>((resolve) => server.close(() => resolve()))
  })
  const { port } = server.address() as AddressInfo // neither a pipe nor closed
  return { port, messages, reached }
}
