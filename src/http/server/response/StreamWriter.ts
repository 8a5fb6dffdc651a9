import type { ServerResponse } from "node:http"
import { Effect, Stream } from "effect"
import { awaitDrain, destroyWhenStalled } from "./Backpressure.ts"
import type { Streamed } from "./Reply.ts"

/**
 * Writes a body as it is read, behind the head that `writeHead` writes. The head waits for the first bytes: until then a
 * failure can still be answered. Later it cuts the connection, so that the caller has less than was announced.
 */
export const writeStream = (
  response: ServerResponse,
  { bytes }: Streamed,
  writeHead: () => void
): Effect.Effect<void> =>
  Effect.suspend(() => {
    if (response.destroyed) return Effect.void
    const start = () => {
      if (response.headersSent) return
      destroyWhenStalled(response)
      writeHead()
    }
    const writePiece = (piece: Uint8Array) => {
      start()
      response.write(piece)
      return Effect.map(awaitDrain(response), () => !response.destroyed)
    }
    const end = Effect.sync(() => {
      start()
      response.end()
    })
    return Stream.runForEachWhile(bytes, writePiece).pipe(
      Effect.zipRight(end),
      Effect.onError(() =>
        Effect.sync(() => {
          if (response.headersSent) response.destroy()
        })
      )
    )
  })
