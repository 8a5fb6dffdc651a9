import { ParseResult, Schema } from "effect"
import { type PagePosition, pageLimit, sortsOf } from "../../domain/Paging.ts"
import { field, oneOf, optional, queryInteger, text } from "../../domain/Schemas.ts"

const Id = Schema.String.pipe(Schema.pattern(/^[a-z]+_[a-z0-9]{1,64}$/))

/** The `order` and the identifier of a row, or the value that the list is sorted by, the identifier and the sort. */
const EncodedPosition = Schema.parseJson(
  Schema.Union(
    Schema.Tuple(Schema.NullOr(Schema.NonNegativeInt), Id),
    Schema.Tuple(Schema.NullOr(text(0, 1024)), Id, Schema.String)
  )
)
const decodePosition = Schema.decodeEither(EncodedPosition)

export const encodeCursor = ({ id, key, order, sort }: PagePosition) =>
  Buffer.from(JSON.stringify(sort === undefined ? [order ?? null, id] : [key ?? null, id, sort])).toString("base64url")

export const cursorMessage = "is not a cursor of this list; use the one in the Link header of the previous page"

/** Opaque to clients. They take it from the `Link` header of the previous page. */
const Cursor = Schema.transformOrFail(Schema.String, Schema.Any as Schema.Schema<PagePosition>, {
  strict: true,
  decode: (encoded, _, ast) =>
    ParseResult.mapBoth(decodePosition(Buffer.from(encoded, "base64url").toString()), {
      onFailure: () => new ParseResult.Type(ast, encoded, cursorMessage),
      onSuccess: (position): PagePosition =>
        position.length === 2
          ? { order: position[0] ?? undefined, id: position[1] }
          : { key: position[0], id: position[1], sort: position[2] }
    }),
  encode: (position) => ParseResult.succeed(encodeCursor(position))
}).annotations({ jsonSchema: { type: "string" } })

const maxItems = `Most items of the page, up to ${pageLimit.max}. Default: ${pageLimit.default}.`

export const pageQueryFields = {
  limit: optional(field(queryInteger(1, pageLimit.max), maxItems)),
  cursor: optional(field(Cursor, "Start of the page: the cursor in the `Link` header of the page before."))
}

export const PageQuery = Schema.Struct(pageQueryFields)

/** The parameter that sorts a list by one of these fields. */
export const sortParameter = <F extends string>(fields: readonly [F, ...Array<F>], fallback: string) => ({
  sort: optional(
    field(oneOf(...sortsOf(fields)), `Field to sort by. A minus sorts descending. Default: by ${fallback}.`, fields[0])
  )
})

/** The parameter that searches a list. */
export const searchParameter = (searched: string) => ({
  q: optional(field(text(2, 100), `Only items with this text in ${searched}, in upper or lower case.`, "north"))
})
