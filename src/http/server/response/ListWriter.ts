import type { ServerResponse } from "node:http"
import { Effect } from "effect"
import type { WireError } from "../../../domain/Errors.ts"
import type { Position } from "../../../domain/Paging.ts"
import { awaitDrain, destroyWhenStalled } from "./Backpressure.ts"
import type { PagedList } from "./Reply.ts"

const writeRest = Effect.fnUntraced(function* (
  response: ServerResponse,
  readPage: PagedList<unknown>["readPage"],
  start: Position | undefined
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
 * Writes a list behind its head. It holds one page at a time, and no database connection while the caller takes it.
 * When a page cannot be read it cuts the connection, so that a short list never looks complete.
 */
export const writeList = (
  response: ServerResponse,
  { first, readPage }: PagedList<unknown>,
  timeoutMillis?: number
): Effect.Effect<void, WireError> => {
  if (response.destroyed || response.writableEnded) return Effect.void
  destroyWhenStalled(response, timeoutMillis)
  response.write(`{"data":[${first.text}`)
  return Effect.onError(writeRest(response, readPage, first.next), () => Effect.sync(() => response.destroy()))
}
