import type { ServerResponse } from "node:http"
import { Effect } from "effect"
import type { ServiceUnavailable, TooManyRequests } from "../../../domain/Errors.ts"
import { KeyedBudget } from "../../../layers/concurrency/KeyedBudget.ts"
import { RequestMetrics } from "../pages/RequestMetrics.ts"
import { destroyWhenStalled } from "./ResponseWriter.ts"

/** Bytes in write buffers that clients have not read yet. */
const unreadLimits = { maxPerKey: 32 * 1024 * 1024, max: 256 * 1024 * 1024 }

/** Concurrent responses written page by page, and chunk by chunk. A page takes more memory than a chunk. */
const listLimits = { maxPerKey: 8, max: 64 }
const fileLimits = { maxPerKey: 64, max: 256 }
/** Exports run one statement after the other, and so take at most this many connections from all other requests. */
const exportLimits = { maxPerKey: 1, max: 2 }

/**
 * How long a rejected request waits for its 429. A client that repeats a rejected request at once would otherwise take
 * as much CPU as it has connections for, which others lack.
 */
const rejectionDelayMs = 2000
/** Requests that wait for their 429. Beyond this it comes at once, so that the memory of these requests is bounded. */
const maxDelayedRejections = 4096

/** Responds to a rejected request after a delay, or when its client disconnects. */
export const makeRejectionDelay = (delayMs = rejectionDelayMs, maxDelayed = maxDelayedRejections) => {
  let delayed = 0
  return (response: ServerResponse, respond: () => void) => {
    if (delayed >= maxDelayed) return respond()
    delayed++
    const settle = () => {
      clearTimeout(timer)
      response.off("close", settle)
      delayed--
      respond()
    }
    const timer = setTimeout(settle, delayMs)
    response.on("close", settle)
  }
}

/** Limits the memory of responses while clients read them. */
export const makeResponseLimits = Effect.map(RequestMetrics, ({ reject }) => {
  const unread = new KeyedBudget(unreadLimits)
  const budgets = {
    lists: new KeyedBudget(listLimits),
    files: new KeyedBudget(fileLimits),
    exports: new KeyedBudget(exportLimits)
  }

  return {
    /** Returns the error if clients of these keys have too many unread bytes. */
    checkUnread: (keys: ReadonlyArray<string>) => {
      const full = unread.rejectionFor(keys, 1)
      return full === undefined ? undefined : reject(full, "unread")
    },

    /** Counts the unread bytes of an ended response until the connection closes or has sent them. */
    trackUnread: (response: ServerResponse, keys: ReadonlyArray<string>) => {
      const unreadBytes = response.writableLength
      if (unreadBytes === 0 || response.destroyed) return
      destroyWhenStalled(response)
      // Public responses such as the documentation have no key, and must not use up the budget of others.
      if (keys.length === 0) return
      unread.acquire(keys, unreadBytes)
      response.once("close", () => unread.release(keys, unreadBytes))
    },

    /** Writes a response in pieces, unless these keys have too many such responses already. */
    writeLimited: <A, E>(
      kind: keyof typeof budgets,
      keys: ReadonlyArray<string>,
      write: Effect.Effect<A, E>
    ): Effect.Effect<A, E | TooManyRequests | ServiceUnavailable> =>
      Effect.suspend((): Effect.Effect<A, E | TooManyRequests | ServiceUnavailable> => {
        const budget = budgets[kind]
        const full = budget.rejectionFor(keys, 1)
        if (full !== undefined) return Effect.fail(reject(full, kind))
        budget.acquire(keys, 1)
        return Effect.ensuring(
          write,
          Effect.sync(() => budget.release(keys, 1))
        )
      })
  }
})

export type ResponseLimits = Effect.Effect.Success<typeof makeResponseLimits>
