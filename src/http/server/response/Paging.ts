import { Effect } from "effect"
import type { WireError } from "../../../domain/Errors.ts"
import type { JsonPage } from "../../../domain/JsonText.ts"
import { type Position, pageLimit, type Window } from "../../../domain/Paging.ts"
import { encodeCursor } from "../../api/Paging.ts"
import { PagedList, Reply } from "./Reply.ts"

/** The requested page. `read` returns one row more than the page, if there is a next one. */
export const paged = <A extends Position, E, R>(
  query: { readonly limit?: number; readonly cursor?: Position },
  read: (window: Window) => Effect.Effect<ReadonlyArray<A>, E, R>
) => {
  const limit = query.limit ?? pageLimit.usual
  return Effect.map(
    read({ limit, after: query.cursor }),
    (rows) => new Reply(rows.slice(0, limit), { next: rows.length > limit ? rows[limit - 1] : undefined })
  )
}

/** A whole list: in one piece if it fits in one page, else page by page with the request's context captured. */
export const wholeList = <A, R>(
  readPage: (after?: Position) => Effect.Effect<JsonPage<A>, WireError, R>
): Effect.Effect<Reply<JsonPage<A> | PagedList<A>>, WireError, R> =>
  Effect.gen(function* () {
    const first = yield* readPage()
    if (first.next === undefined) return new Reply(first)
    const context = yield* Effect.context<R>()
    return new Reply(new PagedList(first, (after) => Effect.provide(readPage(after), context)))
  })

/** The `Link` header of the next page: the request's URL with the new cursor. */
export const linkToNext = (url: string, next: Position) => {
  const [path = "", search] = url.split("?", 2)
  const query = new URLSearchParams(search)
  query.set("cursor", encodeCursor(next))
  return `<${path}?${query}>; rel="next"`
}
