import type { Writable } from "node:stream"
import { Data, Effect, Stream } from "effect"

/** Not as many bytes came as were announced. */
export class WrongSize extends Data.TaggedError("WrongSize")<{ readonly announced: number; readonly came: number }> {
  override get message() {
    return `${this.announced} bytes were announced and ${this.came} came`
  }
}

/** Hands a piece on and waits until there is room for the next. */
const write = (to: Writable, piece: Uint8Array) =>
  Effect.async<void>((resume) => {
    to.write(piece, (cause) => resume(cause ? Effect.die(cause) : Effect.void))
  })

/** Writes exactly as many bytes as were announced. Its end comes only after all of them. */
export const writeSized = <E>(to: Writable, bytes: Stream.Stream<Uint8Array, E>, announced: number) =>
  Effect.suspend(() => {
    let came = 0
    return Stream.runForEach(bytes, (piece) => {
      came += piece.length
      return came > announced ? Effect.die(new WrongSize({ announced, came })) : write(to, piece)
    }).pipe(
      Effect.zipRight(
        Effect.suspend(() =>
          came === announced ? Effect.sync(() => to.end()) : Effect.die(new WrongSize({ announced, came }))
        )
      )
    )
  })

/** All bytes at once, of which there are at least and at most so many. */
export const collect = <E>(bytes: Stream.Stream<Uint8Array, E>, least: number, most: number) =>
  Effect.suspend(() => {
    const pieces: Array<Uint8Array> = []
    let came = 0
    return Stream.runForEach(bytes, (piece) => {
      pieces.push(piece)
      came += piece.length
      return came > most ? Effect.die(new WrongSize({ announced: most, came })) : Effect.void
    }).pipe(
      Effect.flatMap(() =>
        came < least ? Effect.die(new WrongSize({ announced: least, came })) : Effect.succeed(Buffer.concat(pieces))
      )
    )
  })
