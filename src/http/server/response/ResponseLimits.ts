import type { ServerResponse } from "node:http"
import { Effect } from "effect"
import type { ServiceUnavailable, TooManyRequests } from "../../../domain/Errors.ts"
import { KeyedBudget } from "../../../layers/concurrency/KeyedBudget.ts"
import { RequestMetrics } from "../pages/RequestMetrics.ts"
import { destroyWhenStalled } from "./Backpressure.ts"

/** Bytes that are written but not read, of one key and of all. */
const unreadLimits = { maxPerKey: 32 * 1024 * 1024, max: 256 * 1024 * 1024 }

/** Responses that are being written page by page, and those written chunk by chunk: a page is larger than a chunk. */
const listLimits = { maxPerKey: 8, max: 64 }
const fileLimits = { maxPerKey: 64, max: 256 }

/** Bounds what responses take of memory while their callers read them. */
export const makeResponseLimits = Effect.map(RequestMetrics, ({ refuse }) => {
  const unread = new KeyedBudget(unreadLimits)
  const budgets = { lists: new KeyedBudget(listLimits), files: new KeyedBudget(fileLimits) }

  return {
    /** Why nothing more is done for these keys until what they asked for is read. */
    refusal: (keys: ReadonlyArray<string>) => {
      const full = unread.refusal(keys, 1)
      return full === undefined ? undefined : refuse(full, "unread")
    },

    /** Counts what the network has not taken of a response that is ended, until it has or the connection is gone. */
    watch: (response: ServerResponse, keys: ReadonlyArray<string>) => {
      const left = response.writableLength
      if (left === 0 || response.destroyed) return
      destroyWhenStalled(response)
      // What anybody may ask for, such as the documentation, is charged to nobody and must use up nobody's.
      if (keys.length === 0) return
      unread.take(keys, left)
      response.once("close", () => unread.giveBack(keys, left))
    },

    /** Writes a response piece by piece, unless too many of these keys are being written already. */
    inPieces: <A, E>(
      kind: keyof typeof budgets,
      keys: ReadonlyArray<string>,
      write: Effect.Effect<A, E>
    ): Effect.Effect<A, E | TooManyRequests | ServiceUnavailable> =>
      Effect.suspend((): Effect.Effect<A, E | TooManyRequests | ServiceUnavailable> => {
        const budget = budgets[kind]
        const full = budget.refusal(keys, 1)
        if (full !== undefined) return Effect.fail(refuse(full, kind))
        budget.take(keys, 1)
        return Effect.ensuring(
          write,
          Effect.sync(() => budget.giveBack(keys, 1))
        )
      })
  }
})

export type ResponseLimits = Effect.Effect.Success<typeof makeResponseLimits>
