import { type Position, pageLimit, type Window } from "../../../domain/Paging.ts"
import { encodeCursor } from "../../api/Paging.ts"

/** The part of a list a query asks for. */
export const windowOf = (query: { readonly limit?: number; readonly cursor?: Position }): Window => ({
  limit: query.limit ?? pageLimit.usual,
  after: query.cursor
})

/** The `Link` header that leads on: the request's own address with the cursor put forward. */
export const linkToNext = (url: string, next: Position) => {
  const [path = "", search] = url.split("?", 2)
  const query = new URLSearchParams(search)
  query.set("cursor", encodeCursor(next))
  return `<${path}?${query}>; rel="next"`
}
