import type { IncomingMessage } from "node:http"
import { etagOfText } from "../../../domain/Etag.ts"
import { JsonText } from "../../../domain/JsonText.ts"
import { linkToNext } from "./Paging.ts"
import { Reply } from "./Reply.ts"

/** A response, ready to be written. */
export interface Answer {
  readonly status: number
  readonly headers: Readonly<Record<string, string>>
  readonly body: string | Uint8Array | undefined
}

/** One that can be kept and written again. */
export interface TextAnswer extends Answer {
  readonly body: string | undefined
}

const json = { "content-type": "application/json" }

/** An answer outside the contract's envelope. */
export const jsonAnswer = (
  status: number,
  text: string,
  headers: Readonly<Record<string, string>> = {}
): TextAnswer => ({
  status,
  headers: { ...json, ...headers },
  body: text
})

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

/** The answer to a request that succeeded. */
export const succeed = (request: IncomingMessage, status: number, result: unknown): TextAnswer => {
  if (status === 204) return { status, headers: {}, body: undefined }
  const reply = result instanceof Reply ? result : new Reply(result)
  const text: string | undefined = reply.value instanceof JsonText ? reply.value.text : JSON.stringify(reply.value)
  if (text === undefined) throw new TypeError("A handler answered with nothing")
  const about: { readonly etag?: string } = aboutResource(request, status, reply.value, text)
  const headers = {
    ...json,
    ...about,
    ...(reply.next === undefined ? {} : { link: linkToNext(request.url ?? "", reply.next) }),
    ...reply.headers
  }
  return isKnown(request, about.etag)
    ? { status: 304, headers, body: undefined }
    : { status, headers, body: `{"data":${text}}` }
}
