import type { IncomingMessage } from "node:http"
import type { WireError } from "../../../domain/Errors.ts"
import { etagOfText } from "../../../domain/Etag.ts"
import { JsonPage, JsonText } from "../../../domain/JsonText.ts"
import { bodyOf, headersOf, statusOf } from "./Failures.ts"
import { linkToNext } from "./Paging.ts"
import { Page, PagedList, Refusal, Reply, Streamed } from "./Reply.ts"

/** A response, ready to be written. */
export interface Answer {
  readonly status: number
  readonly headers: Readonly<Record<string, string>>
  readonly body: string | Uint8Array | Streamed | PagedList<unknown> | undefined
}

const json = { "content-type": "application/json" }

/** An answer outside the contract's envelope. */
export const jsonAnswer = (status: number, text: string, headers: Readonly<Record<string, string>> = {}): Answer => ({
  status,
  headers: { ...json, ...headers },
  body: text
})

export const failureAnswer = (error: WireError): Answer => jsonAnswer(statusOf(error), bodyOf(error), headersOf(error))

/** The tags of an If-Match or If-None-Match header. */
export const tagsOf = (header: string | undefined) => header?.split(",").map((tag) => tag.trim())

const pathOf = (url: string) => url.split("?", 1)[0] ?? url

const idOf = (value: unknown) =>
  typeof value === "object" && value !== null && "id" in value && typeof value.id === "string" ? value.id : undefined

/** Headers that say more about one resource: its version, and where a new one is to be found. */
const aboutResource = (request: IncomingMessage, status: number, value: unknown, text: string) => {
  if (!text.startsWith("{")) return {}
  const id = status === 201 ? idOf(value) : undefined
  const etag = etagOfText(text)
  return id === undefined ? { etag } : { etag, location: `${pathOf(request.url ?? "")}/${id}` }
}

const isKnown = (request: IncomingMessage, etag: string | undefined) => {
  const tags =
    request.method === "GET" || request.method === "HEAD" ? tagsOf(request.headers["if-none-match"]) : undefined
  return (
    etag !== undefined &&
    tags !== undefined &&
    (tags.includes("*") || tags.some((tag) => tag.replace(/^W\//, "") === etag))
  )
}

const unlessKnown = (request: IncomingMessage, answer: Answer): Answer =>
  isKnown(request, answer.headers["etag"]) ? { ...answer, status: 304, body: undefined } : answer

const [listStart, listEnd] = ['{"data":[', "]}"]

/** The bytes of a whole list. Its text may be long, and joining texts before they become bytes copies them once more. */
const listBytes = ({ text }: JsonPage<unknown>) => {
  const bytes = Buffer.allocUnsafe(listStart.length + Buffer.byteLength(text) + listEnd.length)
  bytes.write(listStart)
  const end = listStart.length + bytes.write(text, listStart.length)
  bytes.write(listEnd, end)
  return bytes
}

/** The answer to a request that succeeded. */
export const succeed = (request: IncomingMessage, status: number, result: unknown): Answer => {
  if (result instanceof Refusal) return failureAnswer(result.error)
  if (status === 204) return { status, headers: {}, body: undefined }
  const { headers: more, next, value } = result instanceof Reply ? result : new Reply(result)
  if (value instanceof Streamed) return unlessKnown(request, { status, headers: more, body: value })
  if (value instanceof PagedList) return { status, headers: { ...json, ...more }, body: value }
  if (value instanceof JsonPage) return { status, headers: { ...json, ...more }, body: listBytes(value) }
  if (value instanceof Page) {
    return { status, headers: { "content-type": "text/html; charset=utf-8", ...more }, body: value.html }
  }
  if (value instanceof Uint8Array) {
    return unlessKnown(request, { status, headers: { etag: etagOfText(value), ...more }, body: value })
  }
  const text: string | undefined = value instanceof JsonText ? value.text : JSON.stringify(value)
  if (text === undefined) throw new TypeError("A handler answered with nothing")
  const headers = {
    ...json,
    ...aboutResource(request, status, value, text),
    ...(next === undefined ? {} : { link: linkToNext(request.url ?? "", next) }),
    ...more
  }
  return unlessKnown(request, { status, headers, body: `{"data":${text}}` })
}
