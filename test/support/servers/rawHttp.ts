import { Agent, type OutgoingHttpHeaders, request } from "node:http"
import { connect } from "node:net"
import { Readable } from "node:stream"
import { text } from "node:stream/consumers"

export interface RawRequest {
  readonly method?: string
  readonly path: string
  readonly headers?: OutgoingHttpHeaders
  /** A string or buffer is sent with a content-length, an array in chunks without one. */
  readonly body?: string | Uint8Array | ReadonlyArray<Uint8Array>
  readonly agent?: Agent
}

export interface RawResponse {
  readonly status: number
  readonly headers: Headers
  readonly text: string
  /** The request, if the helper that sent it keeps it. */
  readonly sent?: {
    readonly path: string
    readonly headers: Readonly<Record<string, unknown>>
    readonly body: unknown
  }
}

const parseIfJson = (text: string): unknown => {
  try {
    return JSON.parse(text)
  } catch {
    return text
  }
}

/** The value at a path such as `lines[0].name`. Keys can contain dots and brackets. */
const valueAt = (value: unknown, path: string): unknown => {
  if (path === "") return value
  if (!(value instanceof Object)) return undefined
  const steps = Object.entries(value).map(([key, item]) => [Array.isArray(value) ? `[${key}]` : key, item] as const)
  const [step = "", item] =
    steps.find(([key]) => path === key || (/^[.[]/.test(path.slice(key.length)) && path.startsWith(key))) ?? []
  return step === "" ? undefined : valueAt(item, path.slice(step.length).replace(/^\./, ""))
}

/** The value of a field in the query, the headers or the body of the request. */
export const sentValue = ({ sent }: RawResponse, field: string): unknown => {
  if (sent === undefined) return
  const { body, headers, path } = sent
  const found = new URL(path, "http://service").searchParams.get(field) ?? headers[field]
  if (found !== undefined) return found
  return valueAt(typeof body === "string" ? parseIfJson(body) : body, field === "body" ? "" : field)
}

export const singleConnectionAgent = () => new Agent({ keepAlive: true, maxSockets: 1 })

/**
 * Sends a request unchanged: no normalization of the path, any bytes as body. Fails when the connection is reset before
 * the request is sent and the response is read.
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
        resolve({ status: response.statusCode ?? 0, headers: received, text, sent: { path, headers, body } })
      }, reject)
    })
    if (body === undefined || typeof body === "string" || body instanceof Uint8Array) outgoing.end(body)
    else Readable.from(body).pipe(outgoing)
  })

/** Writes raw bytes and reads until the service closes the connection. */
export const sendBytes = (url: string, bytes: string) =>
  new Promise<RawResponse>((resolve, reject) => {
    const { hostname, port } = new URL(url)
    const socket = connect(Number(port), hostname)
    socket.on("error", reject)
    socket.write(bytes)
    text(socket).then((response) => {
      const [head = "", body = ""] = response.split("\r\n\r\n", 2)
      const [statusLine = "", ...lines] = head.split("\r\n")
      const fields = lines.map((line): [string, string] => {
        const colon = line.indexOf(":")
        return [line.slice(0, colon), line.slice(colon + 1).trim()]
      })
      resolve({ status: Number(statusLine.split(" ")[1]), headers: new Headers(fields), text: body })
    }, reject)
  })
