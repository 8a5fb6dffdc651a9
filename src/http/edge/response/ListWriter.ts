import type { ServerResponse } from "node:http"
import { Effect } from "effect"
import type { WireError } from "../../../domain/Errors.ts"
import type { Position } from "../../../domain/Paging.ts"
import type { PagedList } from "./Reply.ts"

/** A caller who takes nothing for this long is disconnected: the page written for him is held in memory. */
const stallTimeoutMillis = 60_000

/** Waits until the socket has taken what was written, or is gone. */
export const awaitDrain = (response: ServerResponse) =>
  Effect.async<void>((resume) => {
    if (!response.writableNeedDrain) return resume(Effect.void)
    const settle = () => {
      response.off("drain", settle).off("close", settle)
      resume(Effect.void)
    }
    response.on("drain", settle).on("close", settle)
  })

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
  timeoutMillis = stallTimeoutMillis
): Effect.Effect<void, WireError> => {
  if (response.destroyed || response.writableEnded) return Effect.void
  response.setTimeout(timeoutMillis, () => response.destroy())
  response.write(`{"data":[${first.text}`)
  return Effect.onError(writeRest(response, readPage, first.next), () => Effect.sync(() => response.destroy()))
}
