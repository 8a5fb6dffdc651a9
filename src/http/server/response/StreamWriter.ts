import type { ServerResponse } from "node:http"
import { Effect, Stream } from "effect"
import { awaitDrain, destroyWhenStalled } from "./Backpressure.ts"
import type { StreamedBody } from "./HandlerResult.ts"

/**
 * Writes a body while it is read, after the head that `writeHead` writes. The head waits for the first bytes: until
 * then a failure can still get an error response. A later failure closes the connection, so that the body is shorter
 * than its Content-Length.
 */
export const writeStream = (
  response: ServerResponse,
  { bytes }: StreamedBody,
  writeHead: () => void
): Effect.Effect<void> =>
  Effect.suspend(() => {
    if (response.destroyed) return Effect.void
    const ensureHead = () => {
      if (response.headersSent) return
      destroyWhenStalled(response)
      writeHead()
    }
    const writeChunk = (chunk: Uint8Array) => {
      ensureHead()
      response.write(chunk)
      return Effect.map(awaitDrain(response), () => !response.destroyed)
    }
    const end = Effect.sync(() => {
      ensureHead()
      response.end()
    })
    return Stream.runForEachWhile(bytes, writeChunk).pipe(
      Effect.zipRight(end),
      Effect.onError(() =>
        Effect.sync(() => {
          if (response.headersSent) response.destroy()
        })
      )
    )
  })
