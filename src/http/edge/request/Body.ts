import { isUtf8 } from "node:buffer"
import type { IncomingMessage } from "node:http"
import { Effect, Stream } from "effect"
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

const pieceBytes = 128 * 1024

/** The body in pieces of equal size but the last; one that is too large is drained and then refused. */
async function* pieces(request: IncomingMessage, limit: number) {
  let waiting: Array<Buffer> = []
  let held = 0
  let size = 0
  // Whoever stops reading has an answer to give, for which the connection must stay.
  for await (const chunk of request.iterator({ destroyOnReturn: false }) as AsyncIterable<Buffer>) {
    size += chunk.length
    if (size > patience) throw tooLarge(limit)
    if (size > limit) continue
    waiting.push(chunk)
    held += chunk.length
    if (held < pieceBytes) continue
    const bytes = Buffer.concat(waiting)
    let start = 0
    for (; held - start >= pieceBytes; start += pieceBytes) yield bytes.subarray(start, start + pieceBytes)
    waiting = [bytes.subarray(start)]
    held -= start
  }
  if (size > limit) throw tooLarge(limit)
  if (held > 0) yield Buffer.concat(waiting)
}

/** Reads the rest of a body and throws it away, as far as patience goes. */
const drain = (request: IncomingMessage) => {
  let size = 0
  request.on("data", (chunk: Buffer) => {
    size += chunk.length
    if (size > patience) request.destroy()
  })
}

/** The same, except that stopping does not wait for a sender that has paused. */
const abandonable = (request: IncomingMessage, limit: number): AsyncIterable<Buffer> => ({
  [Symbol.asyncIterator]: () => {
    const all = pieces(request, limit)
    return {
      next: () => all.next(),
      return: async () => {
        void all.return()
        drain(request)
        return { done: true, value: undefined }
      }
    }
  }
})

/** The body as it comes. Its sender going away ends the work, since there is nobody to answer. */
export const streamBody = (request: IncomingMessage, limit: number): Stream.Stream<Uint8Array, PayloadTooLarge> =>
  Stream.fromAsyncIterable(abandonable(request, limit), (cause) => cause).pipe(
    Stream.catchAll((cause) =>
      cause instanceof PayloadTooLarge ? Stream.fail(cause) : Stream.execute(Effect.interrupt)
    )
  )

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
