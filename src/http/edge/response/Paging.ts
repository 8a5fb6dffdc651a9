import { Effect } from "effect"
import { type Position, pageLimit, type Window } from "../../../domain/Paging.ts"
import { encodeCursor } from "../../api/Paging.ts"
import { Reply } from "./Reply.ts"

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

/** The `Link` header that leads on: the request's own address with the cursor put forward. */
export const linkToNext = (url: string, next: Position) => {
  const [path = "", search] = url.split("?", 2)
  const query = new URLSearchParams(search)
  query.set("cursor", encodeCursor(next))
  return `<${path}?${query}>; rel="next"`
}
