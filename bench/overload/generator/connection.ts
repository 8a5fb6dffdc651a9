import { connect, type Socket } from "node:net"

const headEnd = Buffer.from("\r\n\r\n")
const lengthPattern = /\r\ncontent-length: *(\d+)/i
const closePattern = /\r\nconnection: *close/i

/** Returns the status and size of a response, or undefined while its head is incomplete. */
const parseHead = (bytes: Buffer) => {
  const end = bytes.indexOf(headEnd)
  if (end < 0) return undefined
  const head = bytes.toString("latin1", 0, end)
  return {
    status: Number(head.slice(9, 12)),
    size: end + headEnd.length + Number(lengthPattern.exec(head)?.[1] ?? 0),
    isLast: closePattern.test(head)
  }
}

/** Called with the status of a response, or with 0 when the connection broke before it. */
export type ResponseCallback = (status: number) => void

/**
 * A minimal HTTP client: one request at a time, and it reads only the status of a response. A heavier client would take
 * CPU from the service on the same machine. Every response must have a content-length.
 */
export class Connection {
  readonly #port: number
  #socket: Socket | undefined
  #received: Buffer = Buffer.alloc(0)
  #done: ResponseCallback | undefined

  constructor(port: number) {
    this.#port = port
  }

  #open() {
    const socket = connect({ port: this.#port, host: "127.0.0.1", noDelay: true })
    socket.on("data", (bytes) => this.#receive(bytes))
    socket.on("error", () => {})
    socket.on("close", () => {
      if (this.#socket !== socket) return
      this.#socket = undefined
      this.#finish(0)
    })
    return socket
  }

  #receive(bytes: Buffer) {
    this.#received = this.#received.length === 0 ? bytes : Buffer.concat([this.#received, bytes])
    const head = parseHead(this.#received)
    if (head === undefined || this.#received.length < head.size) return
    this.#received = Buffer.alloc(0)
    if (head.isLast) this.close()
    this.#finish(head.status)
  }

  #finish(status: number) {
    const done = this.#done
    this.#done = undefined
    this.#received = Buffer.alloc(0)
    done?.(status)
  }

  open() {
    this.#socket ??= this.#open()
    return this.#socket
  }

  send(request: Buffer, done: ResponseCallback) {
    this.#done = done
    this.open().write(request)
  }

  close() {
    const socket = this.#socket
    this.#socket = undefined
    socket?.destroy()
  }
}
