import type { ServerResponse } from "node:http"
import { Effect } from "effect"
import type { ApiError } from "../../../domain/Errors.ts"
import type { PagePosition } from "../../../domain/Paging.ts"
import type { PagedList } from "./HandlerResult.ts"
import { awaitDrain, destroyWhenStalled } from "./ResponseWriter.ts"

const writeFurtherPages = Effect.fnUntraced(function* (
  response: ServerResponse,
  readPage: PagedList<unknown>["readPage"],
  start: PagePosition | undefined
) {
  for (let next = start; next !== undefined; ) {
    yield* awaitDrain(response)
    if (response.destroyed) return
    const page = yield* readPage(next)
    if (page.text !== "") response.write(`,${page.text}`)
    next = page.next
  }
  response.end("]}")
})

/**
 * Writes a list after the response head. It keeps one page in memory, and no database connection while the client reads
 * it. When reading a page fails it closes the connection, so that a truncated list never looks complete.
 */
export const writeList = (
  response: ServerResponse,
  { first, readPage }: PagedList<unknown>,
  timeoutMs?: number
): Effect.Effect<void, ApiError> => {
  if (response.destroyed || response.writableEnded) return Effect.void
  destroyWhenStalled(response, timeoutMs)
  response.write(`{"data":[${first.text}`)
  return Effect.onError(writeFurtherPages(response, readPage, first.next), () => Effect.sync(() => response.destroy()))
}
