import type { IncomingMessage } from "node:http"
import { EncodedJson, EncodedPage } from "../../../domain/EncodedJson.ts"
import type { ApiError } from "../../../domain/Errors.ts"
import { etagOfContent } from "../../../domain/Etag.ts"
import { CommittedFailure, HandlerResult, HtmlPage, noHeaders, PagedList, StreamedBody } from "./HandlerResult.ts"
import { nextPageLink } from "./Paging.ts"
import { errorBodyOf, errorHeadersOf, errorStatusOf } from "./WireErrors.ts"

/** A response that is ready to be written. */
export interface HttpResponse {
  readonly status: number
  readonly headers: Readonly<Record<string, string>>
  readonly body: string | Uint8Array | StreamedBody | PagedList<unknown> | undefined
}

const jsonHeaders = { "content-type": "application/json" }

/** A JSON response without the `data` envelope. */
export const jsonResponse = (
  status: number,
  body: string | Uint8Array,
  headers: Readonly<Record<string, string>> = {}
): HttpResponse => ({
  status,
  headers: { ...jsonHeaders, ...headers },
  body
})

export const errorResponse = (error: ApiError): HttpResponse =>
  jsonResponse(errorStatusOf(error), errorBodyOf(error), errorHeadersOf(error))

/** Parses an If-Match or If-None-Match header. */
export const parseEntityTags = (header: string | undefined) => header?.split(",").map((tag) => tag.trim())

const pathOf = (url: string) => url.split("?", 1)[0] ?? url

const idOf = (value: unknown) =>
  typeof value === "object" && value !== null && "id" in value && typeof value.id === "string" ? value.id : undefined

/** The headers of one resource or an array: the ETag of a resource, and the Location of a new one. */
const headersOfValue = (request: IncomingMessage, status: number, value: unknown, text: string) => {
  if (!text.startsWith("{")) return jsonHeaders
  const etag = etagOfContent(text)
  const id = status === 201 ? idOf(value) : undefined
  return id === undefined
    ? { ...jsonHeaders, etag }
    : { ...jsonHeaders, etag, location: `${pathOf(request.url ?? "")}/${id}` }
}

const matchesIfNoneMatch = (request: IncomingMessage, etag: string | undefined) => {
  const tags =
    request.method === "GET" || request.method === "HEAD"
      ? parseEntityTags(request.headers["if-none-match"])
      : undefined
  return (
    etag !== undefined &&
    tags !== undefined &&
    (tags.includes("*") || tags.some((tag) => tag.replace(/^W\//, "") === etag))
  )
}

const notModifiedIfMatched = (request: IncomingMessage, response: HttpResponse): HttpResponse =>
  matchesIfNoneMatch(request, response.headers["etag"]) ? { ...response, status: 304, body: undefined } : response

const [listStart, listEnd] = ['{"data":[', "]}"]

/** Node.js writes a string together with the head, and bytes after it. */
const maxTextLength = 32 * 1024

/** Encodes a whole list. Of a long text, a concatenated string would be one more copy. */
const encodeList = ({ text }: EncodedPage<unknown>) => {
  if (text.length <= maxTextLength) return `${listStart}${text}${listEnd}`
  const bytes = Buffer.allocUnsafe(listStart.length + Buffer.byteLength(text) + listEnd.length)
  bytes.write(listStart)
  const end = listStart.length + bytes.write(text, listStart.length)
  bytes.write(listEnd, end)
  return bytes
}

/** Turns a handler's result into a response. */
export const toHttpResponse = (request: IncomingMessage, status: number, result: unknown): HttpResponse => {
  if (result instanceof CommittedFailure) return errorResponse(result.error)
  if (status === 204) return { status, headers: {}, body: undefined }
  const { headers: extraHeaders, next, value } = result instanceof HandlerResult ? result : new HandlerResult(result)
  if (value instanceof StreamedBody)
    return notModifiedIfMatched(request, { status, headers: extraHeaders, body: value })
  if (value instanceof PagedList) return { status, headers: { ...jsonHeaders, ...extraHeaders }, body: value }
  if (value instanceof EncodedPage)
    return { status, headers: { ...jsonHeaders, ...extraHeaders }, body: encodeList(value) }
  if (value instanceof HtmlPage) {
    return { status, headers: { "content-type": "text/html; charset=utf-8", ...extraHeaders }, body: value.html }
  }
  if (value instanceof Uint8Array) {
    return notModifiedIfMatched(request, {
      status,
      headers: { etag: etagOfContent(value), ...extraHeaders },
      body: value
    })
  }
  const text: string | undefined = value instanceof EncodedJson ? value.text : JSON.stringify(value)
  if (text === undefined) throw new TypeError("A handler returned no value")
  const own = headersOfValue(request, status, value, text)
  const headers = next === undefined ? own : { ...own, link: nextPageLink(request.url ?? "", next) }
  const body = `{"data":${text}}`
  if (extraHeaders === noHeaders) return notModifiedIfMatched(request, { status, headers, body })
  return notModifiedIfMatched(request, { status, headers: { ...headers, ...extraHeaders }, body })
}
