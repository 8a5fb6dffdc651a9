import { isUtf8 } from "node:buffer"
import type { IncomingMessage } from "node:http"
import { Effect } from "effect"
import { invalid, PayloadTooLarge, UnsupportedMediaType, type ValidationError } from "../../../domain/Errors.ts"

/** How much of a body that is too large is read and thrown away, so that its sender lives to read the answer. */
const patience = 64 * 1024 * 1024

const tooLarge = (limit: number) => new PayloadTooLarge({ message: `The body may have at most ${limit} bytes` })

/** All bytes of a body of at most `limit`. A larger one is drained first: closing on a sender resets its connection. */
export const readBody = (request: IncomingMessage, limit: number) =>
  Effect.async<Buffer, PayloadTooLarge>((resume) => {
    const chunks: Array<Buffer> = []
    let size = 0
    request.on("data", (chunk: Buffer) => {
      size += chunk.length
      if (size <= limit) chunks.push(chunk)
      else if (size > patience) resume(Effect.fail(tooLarge(limit)))
      else chunks.length = 0
    })
    request.on("end", () => resume(size > limit ? Effect.fail(tooLarge(limit)) : Effect.succeed(Buffer.concat(chunks))))
    // The sender is gone: there is nobody to answer.
    request.on("error", () => resume(Effect.interrupt))
    request.on("close", () => resume(Effect.interrupt))
    // Who left while being let in has been heard of already.
    if (request.destroyed) resume(Effect.interrupt)
  })

const isJson = (contentType: string | undefined) => /^application\/json\s*(;|$)/i.test(contentType ?? "")

const malformed = (message: string) => invalid({ field: "body", constraint: "format", message })

const notJson = malformed("is not valid JSON")

/** The value of a JSON body. */
export const parseJson = (request: IncomingMessage, bytes: Buffer) =>
  Effect.suspend((): Effect.Effect<unknown, ValidationError | UnsupportedMediaType> => {
    if (bytes.length === 0)
      return Effect.fail(invalid({ field: "body", constraint: "required", message: "is required" }))
    if (!isJson(request.headers["content-type"])) {
      return Effect.fail(new UnsupportedMediaType({ message: "Send the body as Content-Type: application/json" }))
    }
    if (!isUtf8(bytes)) return Effect.fail(malformed("is not valid UTF-8"))
    return Effect.try({ try: (): unknown => JSON.parse(bytes.toString("utf8")), catch: () => notJson })
  })
