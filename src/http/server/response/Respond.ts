import type { IncomingMessage, ServerResponse } from "node:http"
import type { Answer } from "./Answer.ts"
import { PagedList, Streamed } from "./Reply.ts"

/** Headers of every response: read by nobody but whom it is meant for, and as nothing but what it says it is. */
const always = { "x-content-type-options": "nosniff", "cache-control": "private, no-cache" }

const sizeOf = (body: Answer["body"]) => {
  if (body === undefined || body instanceof PagedList) return {}
  return { "content-length": body instanceof Streamed ? body.size : Buffer.byteLength(body) }
}

/** Writes an answer, of a list in pages or a stream only the head. A caller that has left is no error. */
export const write = (
  response: ServerResponse<IncomingMessage>,
  { body, headers, status }: Answer,
  more: Readonly<Record<string, string>>
) => {
  if (response.destroyed) return
  response.writeHead(status, { ...always, ...headers, ...more, ...sizeOf(body) })
  if (response.req.method === "HEAD") response.end()
  else if (!(body instanceof PagedList || body instanceof Streamed)) response.end(body)
}
