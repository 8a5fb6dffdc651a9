import type { IncomingMessage, ServerResponse } from "node:http"
import { Effect, Option, Stream } from "effect"
import type { ApiError } from "../../../domain/Errors.ts"
import { PagedList, StreamedBody } from "./HandlerResult.ts"
import type { HttpResponse } from "./HttpResponse.ts"
import { PacedResponse, type SlowestReading } from "./PacedResponse.ts"

const writeFurtherPages = Effect.fnUntraced(function* (
  paced: PacedResponse,
  { first, framing, readPage }: PagedList<unknown>
) {
  for (let next = first.next; next !== undefined; ) {
    const page = yield* readPage(next)
    if (page.text !== "" && !(yield* paced.write(framing.separator + page.text))) return
    next = page.next
  }
  paced.end(framing.end)
})

/**
 * Writes a list after the response head. It keeps one page in memory, and no database connection while the client reads
 * it. When reading a page fails it closes the connection, so that a truncated list never looks complete.
 */
export const writeList = (
  response: ServerResponse,
  list: PagedList<unknown>,
  slowest?: SlowestReading
): Effect.Effect<void, ApiError> => {
  const paced = new PacedResponse(response, slowest)
  return paced.write(list.framing.start + list.first.text).pipe(
    Effect.flatMap((isOpen) => (isOpen ? writeFurtherPages(paced, list) : Effect.void)),
    Effect.onError(() => Effect.sync(() => response.destroy()))
  )
}

/** Produces the next bytes of a body when it is its turn. */
export type TakeTurn = <A, E>(produce: Effect.Effect<A, E>) => Effect.Effect<A, E | ApiError>

/**
 * Writes a body while it is read, after the head that `writeHead` writes. The head waits for the first bytes: until
 * then a failure can still get an error response. A later failure closes the connection, so that the body is shorter
 * than its Content-Length, or lacks the last chunk without one.
 */
export const writeStream = (
  response: ServerResponse,
  { bytes }: StreamedBody,
  writeHead: () => void,
  takeTurn: TakeTurn
): Effect.Effect<void, ApiError> => {
  const paced = new PacedResponse(response)
  const ensureHead = () => {
    if (!response.headersSent) writeHead()
  }
  const writeChunks = Effect.gen(function* () {
    // The stream itself never fails, so that a failure of its pull is its end.
    const next = takeTurn(Effect.option(yield* Stream.toPull(bytes)))
    for (let chunks = yield* next; Option.isSome(chunks); chunks = yield* next) {
      for (const chunk of chunks.value) {
        ensureHead()
        if (!(yield* paced.write(chunk))) return
      }
    }
    ensureHead()
    paced.end()
  })
  return Effect.scoped(writeChunks).pipe(
    Effect.onError(() =>
      Effect.sync(() => {
        if (response.headersSent) response.destroy()
      })
    )
  )
}

const contentLengthOf = (body: HttpResponse["body"]) => {
  if (body === undefined || body instanceof PagedList) return undefined
  return body instanceof StreamedBody ? body.size : Buffer.byteLength(body)
}

/**
 * Names and values in turns, which Node.js writes as they are: headers in objects cost several times as much. Those of the
 * request override those of its result.
 */
const headOf = ({ body, headers }: HttpResponse, extraHeaders: Readonly<Record<string, string>>) => {
  const head = ["x-content-type-options", "nosniff"]
  // No shared caching, unless a handler allows it.
  if (headers["cache-control"] === undefined) head.push("cache-control", "private, no-cache")
  for (const name in headers) if (extraHeaders[name] === undefined) head.push(name, headers[name] ?? "")
  for (const name in extraHeaders) head.push(name, extraHeaders[name] ?? "")
  const length = contentLengthOf(body)
  if (length !== undefined) head.push("content-length", String(length))
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
