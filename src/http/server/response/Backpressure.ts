import type { ServerResponse } from "node:http"
import { Effect } from "effect"

/** A client that reads nothing for this long is disconnected, because its unread response stays in memory. */
const stallTimeoutMs = 60_000

export const destroyWhenStalled = (response: ServerResponse, timeoutMs = stallTimeoutMs) =>
  response.setTimeout(timeoutMs, () => response.destroy())

/** Waits until the write buffer has drained or the connection has closed. */
export const awaitDrain = (response: ServerResponse) =>
  Effect.async<void>((resume) => {
    if (!response.writableNeedDrain) return resume(Effect.void)
    const settle = () => {
      response.off("drain", settle).off("close", settle)
      resume(Effect.void)
    }
    response.on("drain", settle).on("close", settle)
  })
