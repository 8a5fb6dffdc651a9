import { Effect } from "effect"
import type { WireError } from "../../../domain/Errors.ts"
import type { JsonPage } from "../../../domain/JsonText.ts"
import { type Position, pageLimit, type Window } from "../../../domain/Paging.ts"
import { encodeCursor } from "../../api/Paging.ts"
import { PagedList, Reply } from "./Reply.ts"

/** The page a query asks for, out of rows that are read one beyond its end. */
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

/** A whole list: at once if one page holds it. The pages after that need nothing of the request's context. */
export const wholeList = <A, R>(
  readPage: (after?: Position) => Effect.Effect<JsonPage<A>, WireError, R>
): Effect.Effect<Reply<JsonPage<A> | PagedList<A>>, WireError, R> =>
  Effect.gen(function* () {
    const first = yield* readPage()
    if (first.next === undefined) return new Reply(first)
    const context = yield* Effect.context<R>()
    return new Reply(new PagedList(first, (after) => Effect.provide(readPage(after), context)))
  })

/** The `Link` header that leads on: the request's own address with the cursor put forward. */
export const linkToNext = (url: string, next: Position) => {
  const [path = "", search] = url.split("?", 2)
  const query = new URLSearchParams(search)
  query.set("cursor", encodeCursor(next))
  return `<${path}?${query}>; rel="next"`
}
