import { ParseResult, Schema } from "effect"
import { type PagePosition, pageLimit } from "../../domain/Paging.ts"
import { field, optional, queryInteger } from "../../domain/Schemas.ts"

const EncodedPosition = Schema.parseJson(
  Schema.Tuple(Schema.NullOr(Schema.NonNegativeInt), Schema.String.pipe(Schema.pattern(/^[a-z]+_[a-z0-9]{1,64}$/)))
)
const decodePosition = Schema.decodeEither(EncodedPosition)

export const encodeCursor = ({ id, order }: PagePosition) =>
  Buffer.from(JSON.stringify([order ?? null, id])).toString("base64url")

/** Opaque to clients. They take it from the `Link` header of the previous page. */
const Cursor = Schema.transformOrFail(Schema.String, Schema.Any as Schema.Schema<PagePosition>, {
  strict: true,
  decode: (text, _, ast) =>
    ParseResult.mapBoth(decodePosition(Buffer.from(text, "base64url").toString()), {
      onFailure: () =>
        new ParseResult.Type(
          ast,
          text,
          "is not a cursor of this list; use the one in the Link header of the previous page"
        ),
      onSuccess: ([order, id]) => ({ order: order ?? undefined, id })
    }),
  encode: (position) => ParseResult.succeed(encodeCursor(position))
}).annotations({ jsonSchema: { type: "string" } })

const maxItems = `Most items of the page, up to ${pageLimit.max}. Default: ${pageLimit.default}.`

export const pageQueryFields = {
  limit: optional(field(queryInteger(1, pageLimit.max), maxItems)),
  cursor: optional(field(Cursor, "Start of the page: the cursor in the `Link` header of the page before."))
}

export const PageQuery = Schema.Struct(pageQueryFields)
