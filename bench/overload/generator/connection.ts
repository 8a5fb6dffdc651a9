import { connect, type Socket } from "node:net"

const headEnd = Buffer.from("\r\n\r\n")
const lengthPattern = /\r\ncontent-length: *(\d+)/i
const closePattern = /\r\nconnection: *close/i

/** The size of a whole answer whose beginning this is; `undefined` as long as that cannot be told. */
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

/** Told the status of an answer, or 0 when the connection broke before. */
export type ResponseCallback = (status: number) => void

/**
 * A connection that carries one request at a time and looks at nothing of an answer but its status: a client that costs
 * more takes what it costs from the service beside it. The answers must tell their length.
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

  /** Opens the connection, if it is not. */
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
