import type { IncomingMessage, ServerResponse } from "node:http"
import { Effect, Stream } from "effect"
import type { ApiError } from "../../../domain/Errors.ts"
import { PagedList, StreamedBody } from "./HandlerResult.ts"
import { assignHeaders, type HttpResponse } from "./HttpResponse.ts"

const writeFurtherPages = Effect.fnUntraced(function* (
  response: ServerResponse,
  { first, framing, readPage }: PagedList<unknown>
) {
  for (let next = first.next; next !== undefined; ) {
    yield* awaitDrain(response)
    if (response.destroyed) return
    const page = yield* readPage(next)
    if (page.text !== "") response.write(framing.separator + page.text)
    next = page.next
  }
  response.end(framing.end)
})

/**
 * Writes a list after the response head. It keeps one page in memory, and no database connection while the client reads
 * it. When reading a page fails it closes the connection, so that a truncated list never looks complete.
 */
export const writeList = (
  response: ServerResponse,
  list: PagedList<unknown>,
  timeoutMs?: number
): Effect.Effect<void, ApiError> => {
  if (response.destroyed || response.writableEnded) return Effect.void
  destroyWhenStalled(response, timeoutMs)
  response.write(list.framing.start + list.first.text)
  return Effect.onError(writeFurtherPages(response, list), () => Effect.sync(() => response.destroy()))
}

/** A client that reads nothing for this long is disconnected, because its unread response stays in memory. */
const stallTimeoutMs = 60_000

export const destroyWhenStalled = (response: ServerResponse, timeoutMs = stallTimeoutMs) =>
  response.setTimeout(timeoutMs, () => response.destroy())

/** Waits until the write buffer has drained or the connection has closed. */
export const awaitDrain = (response: ServerResponse) =>
  Effect.async<void>((resume) => {
    if (!response.writableNeedDrain) return resume(Effect.void)
    const settle = () => {
      response.off("drain", settle).off("close", settle)
      resume(Effect.void)
    }
    response.on("drain", settle).on("close", settle)
  })

/**
 * Writes a body while it is read, after the head that `writeHead` writes. The head waits for the first bytes: until
 * then a failure can still get an error response. A later failure closes the connection, so that the body is shorter
 * than its Content-Length, or lacks the last chunk without one.
 */
export const writeStream = (
  response: ServerResponse,
  { bytes }: StreamedBody,
  writeHead: () => void
): Effect.Effect<void> =>
  Effect.suspend(() => {
    if (response.destroyed) return Effect.void
    const ensureHead = () => {
      if (response.headersSent) return
      destroyWhenStalled(response)
      writeHead()
    }
    const writeChunk = (chunk: Uint8Array) => {
      ensureHead()
      response.write(chunk)
      return Effect.map(awaitDrain(response), () => !response.destroyed)
    }
    const end = Effect.sync(() => {
      ensureHead()
      response.end()
    })
    return Stream.runForEachWhile(bytes, writeChunk).pipe(
      Effect.zipRight(end),
      Effect.onError(() =>
        Effect.sync(() => {
          if (response.headersSent) response.destroy()
        })
      )
    )
  })

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
