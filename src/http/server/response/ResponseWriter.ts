import type { IncomingMessage, ServerResponse } from "node:http"
import { PagedList, StreamedBody } from "./HandlerResult.ts"
import { assignHeaders, type HttpResponse } from "./HttpResponse.ts"

/** Headers of every response, unless a handler overrides them: no shared caching, no content sniffing. */
const defaultHeaders = { "x-content-type-options": "nosniff", "cache-control": "private, no-cache" }

const contentLengthOf = (body: HttpResponse["body"]) => {
  if (body === undefined || body instanceof PagedList) return undefined
  return body instanceof StreamedBody ? body.size : Buffer.byteLength(body)
}

const headOf = (
  { body, headers }: HttpResponse,
  extraHeaders: Readonly<Record<string, string>>
): Record<string, string | number> => {
  const head: Record<string, string | number> = { ...defaultHeaders }
  assignHeaders(head, headers)
  assignHeaders(head, extraHeaders)
  const length = contentLengthOf(body)
  if (length !== undefined) head["content-length"] = length
  return head
}

/** Writes a response; for a paged list or a stream only its head. Ignores a client that has disconnected. */
export const writeResponse = (
  response: ServerResponse<IncomingMessage>,
  result: HttpResponse,
  extraHeaders: Readonly<Record<string, string>>
) => {
  if (response.destroyed) return
  const { body, status } = result
  response.writeHead(status, headOf(result, extraHeaders))
  if (response.req.method === "HEAD") response.end()
  else if (!(body instanceof PagedList || body instanceof StreamedBody)) response.end(body)
}
