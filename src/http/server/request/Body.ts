import { isUtf8 } from "node:buffer"
import type { IncomingMessage } from "node:http"
import { Effect, Stream } from "effect"
import { invalid, PayloadTooLarge, UnsupportedMediaType, type ValidationError } from "../../../domain/Errors.ts"
import { yieldToEventLoop } from "../../../layers/concurrency/EventLoop.ts"
import { measureJson } from "./JsonStructure.ts"

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

const pieceBytes = 64 * 1024

const nothing = Buffer.alloc(0)

/** The body as it comes in. Who stops reading leaves the connection alone, since there is an answer to send. */
const chunksOf = (request: IncomingMessage): AsyncIterable<Buffer> => request.iterator({ destroyOnReturn: false })

/** Reads what is left of a body that nobody wants, so that its sender lives to read why; but not from one that pauses. */
export const drain = (request: IncomingMessage) =>
  Effect.promise(async () => {
    let size = 0
    try {
      for await (const chunk of chunksOf(request)) {
        size += chunk.length
        if (size > patience) break
      }
    } catch {
      // The sender is gone: there is nobody to answer.
    }
  }).pipe(Effect.timeoutOption("5 seconds"))

/** The body in pieces of equal size but the last; one that is too large is drained and then refused. */
async function* pieces(request: IncomingMessage, limit: number) {
  let piece = nothing
  let held = 0
  let size = 0
  for await (const chunk of chunksOf(request)) {
    size += chunk.length
    if (size > patience) throw tooLarge(limit)
    if (size > limit) continue
    // Copied into a piece at once: many senders at the same time hold a piece each and nothing besides.
    for (let read = 0; read < chunk.length; ) {
      if (held === 0) piece = Buffer.allocUnsafeSlow(pieceBytes)
      const copied = chunk.copy(piece, held, read)
      read += copied
      held = (held + copied) % pieceBytes
      if (held === 0) yield piece
    }
  }
  if (size > limit) throw tooLarge(limit)
  if (held > 0) yield piece.subarray(0, held)
}

/** The same, except that stopping does not wait for a sender that has paused. */
const abandonable = (request: IncomingMessage, limit: number): AsyncIterable<Buffer> => ({
  [Symbol.asyncIterator]: () => {
    const all = pieces(request, limit)
    return {
      next: () => all.next(),
      return: async () => {
        void all.return()
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

/** What a body may hold: room for the longest list of lines, and parsed well within a tenth of a second. */
const max = { values: 65_536, depth: 200 }

const tooMany = invalid({ field: "body", constraint: "maxItems", message: `must have at most ${max.values} values` })
const tooDeep = malformed(`must be nested at most ${max.depth} levels deep`)

const openings = Buffer.from("[{")

/** A value takes at least two bytes, and a level one that opens it: most bodies cannot be beyond either. */
const isWorthMeasuring = (bytes: Buffer) => {
  if (bytes.length > 2 * max.values) return true
  let levels = 0
  for (const opening of openings) {
    for (let at = bytes.indexOf(opening); at >= 0 && levels <= max.depth; at = bytes.indexOf(opening, at + 1)) levels++
  }
  return levels > max.depth
}

/** From this size on, the steps of reading a body take turns with other requests. */
const largeBytes = 64 * 1024

const parse = (text: string) => Effect.try({ try: (): unknown => JSON.parse(text), catch: () => notJson })

/** The value of a JSON body. */
export const parseJson = (request: IncomingMessage, bytes: Buffer) =>
  Effect.suspend((): Effect.Effect<unknown, ValidationError | UnsupportedMediaType> => {
    if (bytes.length === 0)
      return Effect.fail(invalid({ field: "body", constraint: "required", message: "is required" }))
    if (!isJson(request.headers["content-type"])) {
      return Effect.fail(new UnsupportedMediaType({ message: "Send the body as Content-Type: application/json" }))
    }
    if (!isUtf8(bytes)) return Effect.fail(malformed("is not valid UTF-8"))
    if (isWorthMeasuring(bytes)) {
      const { depth, values } = measureJson(bytes, max)
      if (depth > max.depth) return Effect.fail(tooDeep)
      if (values > max.values) return Effect.fail(tooMany)
    }
    const text = bytes.toString("utf8")
    if (bytes.length < largeBytes) return parse(text)
    return yieldToEventLoop.pipe(Effect.zipRight(parse(text)), Effect.zipLeft(yieldToEventLoop))
  })
