import { Array, Data, Either, Option, ParseResult, Schema, type SchemaAST } from "effect"
import { PagedList, StreamedBody } from "./HandlerResult.ts"
import type { HttpResponse } from "./HttpResponse.ts"

/** A handler's result does not match the schema that its operation documents. This is a defect of the handler. */
class ResponseMismatch extends Data.TaggedError("ResponseMismatch")<{ readonly message: string }> {}

/** A response with more items is checked in part: a check must not hold the event loop. */
const maxCheckedItems = 100

const isJson = ({ headers }: HttpResponse) => headers["content-type"] === "application/json"

const bodyTextOf = ({ body }: HttpResponse) => {
  if (body === undefined || body instanceof StreamedBody) return undefined
  if (body instanceof PagedList) return `{"data":[${body.first.text}]}`
  return typeof body === "string" ? body : Buffer.from(body).toString()
}

const shorten = ({ data }: { readonly data: unknown }) => ({
  data: globalThis.Array.isArray(data) ? Array.take(data, maxCheckedItems) : data
})

/** Compares responses with the schema of an operation. Returns the mismatch, if there is one. */
export const makeResponseCheck = (name: string, ast: SchemaAST.AST) => {
  const decode = ParseResult.decodeUnknownEither(Schema.make<unknown>(ast), { onExcessProperty: "error" })
  return (response: HttpResponse): Option.Option<ResponseMismatch> => {
    const text = isJson(response) ? bodyTextOf(response) : undefined
    if (text === undefined) return Option.none()
    return Option.map(Either.getLeft(decode(shorten(JSON.parse(text)))), (issue) => {
      const reason = ParseResult.TreeFormatter.formatIssueSync(issue)
      return new ResponseMismatch({ message: `The response of ${name} does not match its schema: ${reason}` })
    })
  }
}
