import { isUtf8 } from "node:buffer"
import type { IncomingMessage } from "node:http"
import { Effect, Stream } from "effect"
import { PayloadTooLarge, UnsupportedMediaType, type ValidationError, validationError } from "../../../domain/Errors.ts"
import { longWorkBytes, yieldToEventLoop } from "../../../layers/infra/concurrency/EventLoop.ts"
import { measureJson } from "./JsonStructure.ts"

/** How much of an oversized body is read and discarded: a client that is still sending cannot read its response. */
const maxDrainedBytes = 64 * 1024 * 1024

const tooLarge = (maxBytes: number) => new PayloadTooLarge({ message: `The body may have at most ${maxBytes} bytes` })

/** Reads a body of at most `maxBytes`. A larger one is drained before it fails: closing early resets the connection. */
export const readBody = (request: IncomingMessage, maxBytes: number) =>
  Effect.async<Buffer, PayloadTooLarge>((resume) => {
    const chunks: Array<Buffer> = []
    let size = 0
    request.on("data", (chunk: Buffer) => {
      size += chunk.length
      if (size <= maxBytes) chunks.push(chunk)
      else if (size > maxDrainedBytes) resume(Effect.fail(tooLarge(maxBytes)))
      else chunks.length = 0
    })
    request.on("end", () =>
      resume(size > maxBytes ? Effect.fail(tooLarge(maxBytes)) : Effect.succeed(Buffer.concat(chunks)))
    )
    // The client disconnected, so a response is useless.
    request.on("error", () => resume(Effect.interrupt))
    request.on("close", () => resume(Effect.interrupt))
    // A disconnect during authorization emits `close` before these listeners exist.
    if (request.destroyed) resume(Effect.interrupt)
  })

const chunkBytes = 64 * 1024

const emptyBuffer = Buffer.alloc(0)

/** The body's chunks. Ending the iteration early keeps the connection open, because it still carries the response. */
const chunksOf = (request: IncomingMessage): AsyncIterable<Buffer> => request.iterator({ destroyOnReturn: false })

/** Discards the rest of a rejected body, so that the client can read the response. Gives up on a client that pauses. */
export const discardBody = (request: IncomingMessage) =>
  Effect.promise(async () => {
    let size = 0
    try {
      for await (const chunk of chunksOf(request)) {
        size += chunk.length
        if (size > maxDrainedBytes) break
      }
    } catch {
      // The client disconnected, so a response is useless.
    }
  }).pipe(Effect.timeoutOption("5 seconds"))

/** The body in chunks of equal size except the last. An oversized body is drained before it fails. */
async function* rechunk(request: IncomingMessage, maxBytes: number) {
  let buffer = emptyBuffer
  let filled = 0
  let size = 0
  for await (const chunk of chunksOf(request)) {
    size += chunk.length
    if (size > maxDrainedBytes) throw tooLarge(maxBytes)
    if (size > maxBytes) continue
    // Copied at once, so that each of many concurrent uploads keeps one buffer in memory and no received chunks.
    for (let read = 0; read < chunk.length; ) {
      if (filled === 0) buffer = Buffer.allocUnsafeSlow(chunkBytes)
      const copied = chunk.copy(buffer, filled, read)
      read += copied
      filled = (filled + copied) % chunkBytes
      if (filled === 0) yield buffer
    }
  }
  if (size > maxBytes) throw tooLarge(maxBytes)
  if (filled > 0) yield buffer.subarray(0, filled)
}

/** `rechunk` whose `return` does not wait for a paused client. */
const abandonableChunks = (request: IncomingMessage, maxBytes: number): AsyncIterable<Buffer> => ({
  [Symbol.asyncIterator]: () => {
    const chunks = rechunk(request, maxBytes)
    return {
      next: () => chunks.next(),
      return: async () => {
        void chunks.return()
        return { done: true, value: undefined }
      }
    }
  }
})

/** Streams the body. A disconnect interrupts the handler, because a response is useless then. */
export const streamBody = (request: IncomingMessage, maxBytes: number): Stream.Stream<Uint8Array, PayloadTooLarge> =>
  Stream.fromAsyncIterable(abandonableChunks(request, maxBytes), (cause) => cause).pipe(
    Stream.catchAll((cause) =>
      cause instanceof PayloadTooLarge ? Stream.fail(cause) : Stream.execute(Effect.interrupt)
    )
  )

const isJsonContentType = (contentType: string | undefined) => /^application\/json\s*(;|$)/i.test(contentType ?? "")

const malformedBody = (message: string) => validationError({ field: "body", constraint: "format", message })

const notJson = malformedBody("is not valid JSON")

/** Enough for the longest list of invoice lines, and parsed in well under 100 ms. */
const maxStructure = { values: 65_536, depth: 200 }

const tooManyValues = validationError({
  field: "body",
  constraint: "maxItems",
  message: `must have at most ${maxStructure.values} values`
})
const tooDeep = malformedBody(`must be nested at most ${maxStructure.depth} levels deep`)

const openingBytes = Buffer.from("[{")

/** A value takes at least two bytes and a level one opening byte, so most bodies are within both limits. */
const canExceedLimits = (bytes: Buffer) => {
  if (bytes.length > 2 * maxStructure.values) return true
  let levels = 0
  for (const opening of openingBytes) {
    for (let at = bytes.indexOf(opening); at >= 0 && levels <= maxStructure.depth; at = bytes.indexOf(opening, at + 1))
      levels++
  }
  return levels > maxStructure.depth
}

const parse = (text: string): Effect.Effect<unknown, ValidationError> => {
  try {
    return Effect.succeed(JSON.parse(text))
  } catch {
    return Effect.fail(notJson)
  }
}

/** Parses a JSON body, within limits on its size and depth. */
export const parseJsonBody = (
  request: IncomingMessage,
  bytes: Buffer
): Effect.Effect<unknown, ValidationError | UnsupportedMediaType> => {
  if (bytes.length === 0)
    return Effect.fail(validationError({ field: "body", constraint: "required", message: "is required" }))
  if (!isJsonContentType(request.headers["content-type"])) {
    return Effect.fail(new UnsupportedMediaType({ message: "Send the body as Content-Type: application/json" }))
  }
  if (!isUtf8(bytes)) return Effect.fail(malformedBody("is not valid UTF-8"))
  if (canExceedLimits(bytes)) {
    const { depth, values } = measureJson(bytes, maxStructure)
    if (depth > maxStructure.depth) return Effect.fail(tooDeep)
    if (values > maxStructure.values) return Effect.fail(tooManyValues)
  }
  const text = bytes.toString("utf8")
  if (bytes.length < longWorkBytes) return parse(text)
  return yieldToEventLoop.pipe(
    Effect.flatMap(() => parse(text)),
    Effect.zipLeft(yieldToEventLoop)
  )
}
