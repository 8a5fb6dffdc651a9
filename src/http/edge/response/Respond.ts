import type { IncomingMessage, ServerResponse } from "node:http"
import type { WireError } from "../../../domain/Errors.ts"
import { type Answer, jsonAnswer } from "./Answer.ts"
import { bodyOf, headersOf, statusOf } from "./Failures.ts"

export const failureAnswer = (error: WireError): Answer => jsonAnswer(statusOf(error), bodyOf(error), headersOf(error))

/** Headers of every response: read by nobody but whom it is meant for, and as nothing but what it says it is. */
const always = { "x-content-type-options": "nosniff", "cache-control": "private, no-cache" }

/** Writes an answer whole. A caller that has left is no error. */
export const write = (
  response: ServerResponse<IncomingMessage>,
  { body, headers, status }: Answer,
  more: Readonly<Record<string, string>>
) => {
  if (response.destroyed) return
  response.writeHead(status, {
    ...always,
    ...headers,
    ...more,
    ...(body === undefined ? {} : { "content-length": Buffer.byteLength(body) })
  })
  response.end(body)
}
