import { Agent, type OutgoingHttpHeaders, request } from "node:http"
import { connect } from "node:net"
import { Readable } from "node:stream"
import { text } from "node:stream/consumers"

export interface RawRequest {
  readonly method?: string
  readonly path: string
  readonly headers?: OutgoingHttpHeaders
  /** Goes with its length when it is whole, and in chunks without one when it is a list. */
  readonly body?: string | Uint8Array | ReadonlyArray<Uint8Array>
  readonly agent?: Agent
}

export interface RawResponse {
  readonly status: number
  readonly headers: Headers
  readonly text: string
}

export const singleConnectionAgent = () => new Agent({ keepAlive: true, maxSockets: 1 })

/**
 * One request as it is written here: the path is not tidied up, the body is any bytes, and a connection that is reset,
 * at whatever point before the request is sent and the answer read, is a failure.
 */
export const sendRaw = (url: string, options: RawRequest) =>
  new Promise<RawResponse>((resolve, reject) => {
    const { agent, body, headers = {}, method = "GET", path } = options
    const { hostname, port } = new URL(url)
    const length = body instanceof Uint8Array || typeof body === "string" ? Buffer.byteLength(body) : undefined
    const outgoing = request({
      hostname,
      port,
      method,
      path,
      headers: length === undefined ? headers : { "content-length": length, ...headers },
      agent: agent ?? new Agent()
    })
    const sent = new Promise((finished) => outgoing.on("finish", finished))
    outgoing.on("error", reject)
    outgoing.on("response", (response) => {
      Promise.all([text(response), sent]).then(([text]) => {
        const received = new Headers(
          Object.entries(response.headers).map(([name, value]): [string, string] => [name, String(value)])
        )
        resolve({ status: response.statusCode ?? 0, headers: received, text })
      }, reject)
    })
    if (body === undefined || typeof body === "string" || body instanceof Uint8Array) outgoing.end(body)
    else Readable.from(body).pipe(outgoing)
  })

/** Writes bytes that need not be HTTP and reads what comes back until the service hangs up. */
export const sendBytes = (url: string, bytes: string) =>
  new Promise<RawResponse>((resolve, reject) => {
    const { hostname, port } = new URL(url)
    const socket = connect(Number(port), hostname)
    socket.on("error", reject)
    socket.write(bytes)
    text(socket).then((answer) => {
      const [head = "", body = ""] = answer.split("\r\n\r\n", 2)
      const [statusLine = "", ...lines] = head.split("\r\n")
      const fields = lines.map((line): [string, string] => {
        const colon = line.indexOf(":")
        return [line.slice(0, colon), line.slice(colon + 1).trim()]
      })
      resolve({ status: Number(statusLine.split(" ")[1]), headers: new Headers(fields), text: body })
    }, reject)
  })
