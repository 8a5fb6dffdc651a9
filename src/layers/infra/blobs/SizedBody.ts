import type { Writable } from "node:stream"
import { Data, Effect, Stream } from "effect"

/** The body is shorter or longer than its announced size. */
export class WrongSize extends Data.TaggedError("WrongSize")<{ readonly expected: number; readonly received: number }> {
  override get message() {
    return `Expected ${this.expected} bytes, received ${this.received}`
  }
}

/** Writes a chunk and waits until the stream has flushed it, which applies backpressure. */
const write = (to: Writable, chunk: Uint8Array) =>
  Effect.async<void>((resume) => {
    to.write(chunk, (cause) => resume(cause ? Effect.die(cause) : Effect.void))
  })

/** Writes exactly `expected` bytes. Ends the body only after all of them. */
export const writeExactly = <E>(to: Writable, bytes: Stream.Stream<Uint8Array, E>, expected: number) =>
  Effect.suspend(() => {
    let received = 0
    return Stream.runForEach(bytes, (chunk) => {
      received += chunk.length
      return received > expected ? Effect.die(new WrongSize({ expected, received })) : write(to, chunk)
    }).pipe(
      Effect.zipRight(
        Effect.suspend(() =>
          received === expected ? Effect.sync(() => to.end()) : Effect.die(new WrongSize({ expected, received }))
        )
      )
    )
  })

/** Collects a stream of `minBytes` to `maxBytes` in one buffer. */
export const collectBytes = <E>(bytes: Stream.Stream<Uint8Array, E>, minBytes: number, maxBytes: number) =>
  Effect.suspend(() => {
    const chunks: Array<Uint8Array> = []
    let received = 0
    return Stream.runForEach(bytes, (chunk) => {
      chunks.push(chunk)
      received += chunk.length
      return received > maxBytes ? Effect.die(new WrongSize({ expected: maxBytes, received })) : Effect.void
    }).pipe(
      Effect.flatMap(() =>
        received < minBytes
          ? Effect.die(new WrongSize({ expected: minBytes, received }))
          : Effect.succeed(Buffer.concat(chunks))
      )
    )
  })
