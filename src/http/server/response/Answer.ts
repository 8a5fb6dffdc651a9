import type { IncomingMessage } from "node:http"
import type { WireError } from "../../../domain/Errors.ts"
import { etagOfText } from "../../../domain/Etag.ts"
import { JsonPage, JsonText } from "../../../domain/JsonText.ts"
import { bodyOf, headersOf, statusOf } from "./Failures.ts"
import { linkToNext } from "./Paging.ts"
import { Page, PagedList, Refusal, Reply, Streamed } from "./Reply.ts"

/** A response that is ready to be written. */
export interface Answer {
  readonly status: number
  readonly headers: Readonly<Record<string, string>>
  readonly body: string | Uint8Array | Streamed | PagedList<unknown> | undefined
}

const jsonHeaders = { "content-type": "application/json" }

/** A JSON response without the `data` envelope. */
export const jsonAnswer = (status: number, text: string, headers: Readonly<Record<string, string>> = {}): Answer => ({
  status,
  headers: { ...jsonHeaders, ...headers },
  body: text
})

export const failureAnswer = (error: WireError): Answer => jsonAnswer(statusOf(error), bodyOf(error), headersOf(error))

/** Parses an If-Match or If-None-Match header. */
export const tagsOf = (header: string | undefined) => header?.split(",").map((tag) => tag.trim())

const pathOf = (url: string) => url.split("?", 1)[0] ?? url

const idOf = (value: unknown) =>
  typeof value === "object" && value !== null && "id" in value && typeof value.id === "string" ? value.id : undefined

/** ETag of one resource, and the Location of a new one. */
const resourceHeaders = (request: IncomingMessage, status: number, value: unknown, text: string) => {
  if (!text.startsWith("{")) return {}
  const id = status === 201 ? idOf(value) : undefined
  const etag = etagOfText(text)
  return id === undefined ? { etag } : { etag, location: `${pathOf(request.url ?? "")}/${id}` }
}

const matchesIfNoneMatch = (request: IncomingMessage, etag: string | undefined) => {
  const tags =
    request.method === "GET" || request.method === "HEAD" ? tagsOf(request.headers["if-none-match"]) : undefined
  return (
    etag !== undefined &&
    tags !== undefined &&
    (tags.includes("*") || tags.some((tag) => tag.replace(/^W\//, "") === etag))
  )
}

const notModifiedIfMatched = (request: IncomingMessage, response: Answer): Answer =>
  matchesIfNoneMatch(request, response.headers["etag"]) ? { ...response, status: 304, body: undefined } : response

const [listStart, listEnd] = ['{"data":[', "]}"]

/** Encodes a whole list. Concatenating the strings first would copy a long text once more. */
const encodeList = ({ text }: JsonPage<unknown>) => {
  const bytes = Buffer.allocUnsafe(listStart.length + Buffer.byteLength(text) + listEnd.length)
  bytes.write(listStart)
  const end = listStart.length + bytes.write(text, listStart.length)
  bytes.write(listEnd, end)
  return bytes
}

/** Turns a handler's result into a response. */
export const succeed = (request: IncomingMessage, status: number, result: unknown): Answer => {
  if (result instanceof Refusal) return failureAnswer(result.error)
  if (status === 204) return { status, headers: {}, body: undefined }
  const { headers: extraHeaders, next, value } = result instanceof Reply ? result : new Reply(result)
  if (value instanceof Streamed) return notModifiedIfMatched(request, { status, headers: extraHeaders, body: value })
  if (value instanceof PagedList) return { status, headers: { ...jsonHeaders, ...extraHeaders }, body: value }
  if (value instanceof JsonPage)
    return { status, headers: { ...jsonHeaders, ...extraHeaders }, body: encodeList(value) }
  if (value instanceof Page) {
    return { status, headers: { "content-type": "text/html; charset=utf-8", ...extraHeaders }, body: value.html }
  }
  if (value instanceof Uint8Array) {
    return notModifiedIfMatched(request, { status, headers: { etag: etagOfText(value), ...extraHeaders }, body: value })
  }
  const text: string | undefined = value instanceof JsonText ? value.text : JSON.stringify(value)
  if (text === undefined) throw new TypeError("A handler returned no value")
  const headers = {
    ...jsonHeaders,
    ...resourceHeaders(request, status, value, text),
    ...(next === undefined ? {} : { link: linkToNext(request.url ?? "", next) }),
    ...extraHeaders
  }
  return notModifiedIfMatched(request, { status, headers, body: `{"data":${text}}` })
}
