import type { IncomingMessage } from "node:http"
import { Effect, Option, SchemaAST } from "effect"
import { csvLine } from "../../../domain/Csv.ts"
import { EncodedPage } from "../../../domain/EncodedJson.ts"
import type { ApiError } from "../../../domain/Errors.ts"
import type { CsvRows } from "../../api/CsvRows.ts"
import { type ListPage, type ListPageReader, PagedList, StreamedBody } from "./HandlerResult.ts"
import type { HttpResponse } from "./HttpResponse.ts"

/** The items of a list in the success schema of an operation: `{ data: Array<item> }`. */
const itemsOf = (ast: SchemaAST.AST) => {
  const data = SchemaAST.isTypeLiteral(ast)
    ? ast.propertySignatures.find(({ name }) => name === "data")?.type
    : undefined
  return Option.fromNullable(data !== undefined && SchemaAST.isTupleType(data) ? data.rest[0]?.type : undefined)
}

const fieldsOf = (ast: SchemaAST.AST): ReadonlyArray<string> =>
  SchemaAST.isUnion(ast)
    ? [...new Set(ast.types.flatMap(fieldsOf))]
    : SchemaAST.getPropertySignatures(ast).map(({ name }) => String(name))

/** The CSV form of a response (RFC 4180): one column for each field of its items, objects and lists as JSON. */
export interface CsvFormat {
  readonly head: string
  readonly fileName: string
  readonly toLines: (items: ReadonlyArray<object>) => string
  /** The items in the `data` of a response. */
  readonly toItems: CsvRows["toRows"]
}

/** The rows of an operation that returns a list: its items. */
const listRowsOf = (ast: SchemaAST.AST) =>
  Option.map(
    itemsOf(SchemaAST.encodedAST(ast)),
    (item): CsvRows => ({ fields: fieldsOf(item), toRows: (items) => (Array.isArray(items) ? items : []) })
  )

/** The CSV form of an operation that says what its rows are, or returns a list. */
export const makeCsvFormat = (ast: SchemaAST.AST, path: string, ownRows: CsvRows | undefined): CsvFormat | undefined =>
  Option.fromNullable(ownRows).pipe(
    Option.orElse(() => listRowsOf(ast)),
    Option.map(({ fields, toRows }) => {
      const toItemLine = (item: object) => {
        const values = new Map<string, unknown>(Object.entries(item))
        return csvLine(fields.map((name) => values.get(name)))
      }
      return {
        head: csvLine(fields),
        fileName: `${path.split("/").at(-1)}.csv`,
        toLines: (items: ReadonlyArray<object>) => items.map(toItemLine).join(""),
        toItems: toRows
      }
    }),
    Option.getOrUndefined
  )

/** The quality of a media type in an Accept header, 0 if the header does not name it. */
const qualityOf = (accept: string, type: string) => {
  for (const range of accept.split(",")) {
    const [name = "", ...parameters] = range.split(";").map((part) => part.trim().toLowerCase())
    const quality = parameters.find((parameter) => parameter.startsWith("q="))?.slice(2) ?? "1"
    if (name === type) return Number(quality)
  }
  return 0
}

/** Whether a request prefers CSV. JSON wins if the request names both alike. */
export const prefersCsv = ({ headers: { accept = "" } }: IncomingMessage) =>
  qualityOf(accept, "text/csv") > qualityOf(accept, "application/json")

const encodePage = ({ toLines }: CsvFormat, { items, next }: ListPage) => new EncodedPage(toLines(items), next)

/** A page of a list that PostgreSQL has encoded. */
const decodePage = ({ next, text }: EncodedPage<unknown>): ListPage => ({ items: JSON.parse(`[${text}]`), next })

/** The items of a response that is complete. */
const itemsIn = ({ toItems }: CsvFormat, body: string | Uint8Array) =>
  toItems(JSON.parse(typeof body === "string" ? body : Buffer.from(body).toString()).data)

/**
 * Turns a JSON response into CSV. `rest` reads the pages after a first one that ends at `next`: then the
 * response is the whole list.
 */
export const toCsvResponse = (
  format: CsvFormat,
  { body, headers, status }: HttpResponse,
  rest: { readonly readPage: ListPageReader<ApiError, never>; readonly next: ListPage["next"] } | undefined
): HttpResponse => {
  if (body === undefined || body instanceof StreamedBody) return { body, headers, status }
  const { link, ...others } = headers
  const csvHeaders = {
    ...others,
    "content-type": "text/csv; charset=utf-8; header=present",
    "content-disposition": `attachment; filename="${format.fileName}"`
  }
  const framing = { start: format.head, separator: "", end: "" }
  const streamed = (first: ListPage, readPage: ListPageReader<ApiError, never>) => ({
    status,
    headers: csvHeaders,
    body: new PagedList(
      encodePage(format, first),
      (after) => Effect.map(readPage(after), (page) => encodePage(format, page)),
      framing
    )
  })
  if (body instanceof PagedList)
    return streamed(decodePage(body.first), (after) => Effect.map(body.readPage(after), decodePage))
  if (rest !== undefined) return streamed({ items: itemsIn(format, body), next: rest.next }, rest.readPage)
  return {
    status,
    headers: { ...csvHeaders, ...(link === undefined ? {} : { link }) },
    body: format.head + format.toLines(itemsIn(format, body))
  }
}
