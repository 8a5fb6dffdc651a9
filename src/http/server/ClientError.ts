import { randomUUID } from "node:crypto"
import { STATUS_CODES } from "node:http"
import type { Duplex } from "node:stream"

const responseByErrorCode = new Map<string, readonly [status: number, error: string, message: string]>([
  ["HPE_HEADER_OVERFLOW", [431, "RequestHeaderFieldsTooLarge", "The address and the headers are too long"]],
  ["HPE_CHUNK_EXTENSIONS_OVERFLOW", [413, "PayloadTooLarge", "The chunks of the body say too much"]],
  ["ERR_HTTP_REQUEST_TIMEOUT", [408, "RequestTimeout", "The request took too long to arrive"]]
])
const malformedRequest = [400, "ValidationError", "The request is not valid HTTP"] as const

/** Answers a request that Node.js cannot parse, in the shape of every other error, and closes the connection. */
export const respondToClientError = (error: NodeJS.ErrnoException, socket: Duplex) => {
  if (error.code === "ECONNRESET" || !socket.writable) return socket.destroy()
  const [status, name, message] = responseByErrorCode.get(error.code ?? "") ?? malformedRequest
  const body = JSON.stringify({ error: name, message })
  const head = [
    `HTTP/1.1 ${status} ${STATUS_CODES[status]}`,
    "connection: close",
    "content-type: application/json",
    `content-length: ${Buffer.byteLength(body)}`,
    "x-content-type-options: nosniff",
    `x-request-id: ${randomUUID()}`
  ]
  return socket.end(`${head.join("\r\n")}\r\n\r\n${body}`)
}
