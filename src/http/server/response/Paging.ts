import { Effect } from "effect"
import type { EncodedPage } from "../../../domain/EncodedJson.ts"
import type { ApiError } from "../../../domain/Errors.ts"
import { type PagePosition, type PageRequest, pageLimit } from "../../../domain/Paging.ts"
import { encodeCursor } from "../../api/Paging.ts"
import { HandlerResult, PagedList } from "./HandlerResult.ts"

/** The requested page. `read` returns one row more than the page, if there is a next one. */
export const listPage = <A extends PagePosition, E, R>(
  query: { readonly limit?: number; readonly cursor?: PagePosition },
  read: (window: PageRequest) => Effect.Effect<ReadonlyArray<A>, E, R>
) => {
  const limit = query.limit ?? pageLimit.default
  return Effect.map(
    read({ limit, after: query.cursor }),
    (rows) => new HandlerResult(rows.slice(0, limit), { next: rows.length > limit ? rows[limit - 1] : undefined })
  )
}

/** A whole list: in one piece if it fits in one page, else page by page with the request's context captured. */
export const listAll = <A, R>(
  readPage: (after?: PagePosition) => Effect.Effect<EncodedPage<A>, ApiError, R>
): Effect.Effect<HandlerResult<EncodedPage<A> | PagedList<A>>, ApiError, R> =>
  Effect.gen(function* () {
    const first = yield* readPage()
    if (first.next === undefined) return new HandlerResult(first)
    const context = yield* Effect.context<R>()
    return new HandlerResult(new PagedList(first, (after) => Effect.provide(readPage(after), context)))
  })

/** The `Link` header of the next page: the request's URL with the new cursor. */
export const nextPageLink = (url: string, next: PagePosition) => {
  const [path = "", search] = url.split("?", 2)
  const query = new URLSearchParams(search)
  query.set("cursor", encodeCursor(next))
  return `<${path}?${query}>; rel="next"`
}
