import type { ServerResponse } from "node:http"
import { Effect } from "effect"

/** A client that reads nothing for this long is disconnected: what was written for it is held in memory. */
const stallTimeoutMillis = 60_000

export const destroyWhenStalled = (response: ServerResponse, timeoutMillis = stallTimeoutMillis) =>
  response.setTimeout(timeoutMillis, () => response.destroy())

/** Waits until the socket has taken what was written, or is gone. */
export const awaitDrain = (response: ServerResponse) =>
  Effect.async<void>((resume) => {
    if (!response.writableNeedDrain) return resume(Effect.void)
    const settle = () => {
      response.off("drain", settle).off("close", settle)
      resume(Effect.void)
    }
    response.on("drain", settle).on("close", settle)
  })
