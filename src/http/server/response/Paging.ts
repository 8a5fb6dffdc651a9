import { Effect } from "effect"
import type { EncodedPage } from "../../../domain/EncodedJson.ts"
import { type ApiError, fieldError } from "../../../domain/Errors.ts"
import { type PagePosition, type PageRequest, pageLimit, positionOf } from "../../../domain/Paging.ts"
import type { RequestServices } from "../../../domain/tenancy/RequestContext.ts"
import { cursorMessage, encodeCursor } from "../../api/Paging.ts"
import { HandlerResult, PagedList } from "./HandlerResult.ts"

interface ListQuery {
  readonly limit?: number
  readonly cursor?: PagePosition
  readonly sort?: string
}

/**
 * The requested page of a list whose rows have the positions of `positionIn`. `read` returns one row more than the page,
 * if there is a next one. A response that has room for the whole list reads the pages after it.
 */
export const listPageBy = <A extends object, E extends ApiError, R extends RequestServices>(
  { cursor, limit: givenLimit, sort }: ListQuery,
  read: (window: PageRequest) => Effect.Effect<ReadonlyArray<A>, E, R>,
  positionIn: (row: A) => PagePosition
) => {
  if (cursor !== undefined && cursor.sort !== sort) return Effect.fail(fieldError("cursor", "format", cursorMessage))
  const readPage = (after: PagePosition | undefined, limit: number) =>
    Effect.map(read({ limit, after }), (rows) => {
      const last = rows.length > limit ? rows[limit - 1] : undefined
      return { items: rows.slice(0, limit), next: last === undefined ? undefined : positionIn(last) }
    })
  return Effect.map(
    readPage(cursor, givenLimit ?? pageLimit.default),
    ({ items, next }) =>
      new HandlerResult(items, {
        next,
        ...(givenLimit === undefined ? { readPage: (after: PagePosition) => readPage(after, pageLimit.max) } : {})
      })
  )
}

/** The requested page of a list of resources. */
export const listPage = <A extends PagePosition, E extends ApiError, R extends RequestServices>(
  query: ListQuery,
  read: (window: PageRequest) => Effect.Effect<ReadonlyArray<A>, E, R>
) => listPageBy(query, read, (row) => positionOf(row, query.sort))

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
