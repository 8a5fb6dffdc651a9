import type { IncomingMessage, ServerResponse } from "node:http"
import { PagedList, StreamedBody } from "./HandlerResult.ts"
import type { HttpResponse } from "./HttpResponse.ts"

/** Headers of every response, unless a handler overrides them: no shared caching, no content sniffing. */
const defaultHeaders = { "x-content-type-options": "nosniff", "cache-control": "private, no-cache" }

const contentLengthHeader = (body: HttpResponse["body"]) => {
  if (body === undefined || body instanceof PagedList) return {}
  return { "content-length": body instanceof StreamedBody ? body.size : Buffer.byteLength(body) }
}

/** Writes a response; for a paged list or a stream only its head. Ignores a client that has disconnected. */
export const writeResponse = (
  response: ServerResponse<IncomingMessage>,
  { body, headers, status }: HttpResponse,
  extraHeaders: Readonly<Record<string, string>>
) => {
  if (response.destroyed) return
  response.writeHead(status, { ...defaultHeaders, ...headers, ...extraHeaders, ...contentLengthHeader(body) })
  if (response.req.method === "HEAD") response.end()
  else if (!(body instanceof PagedList || body instanceof StreamedBody)) response.end(body)
}
