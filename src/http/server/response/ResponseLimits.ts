import type { ServerResponse } from "node:http"
import { Effect } from "effect"
import type { ServiceUnavailable, TooManyRequests } from "../../../domain/Errors.ts"
import { makeFairSemaphore } from "../../../layers/infra/concurrency/FairSemaphore.ts"
import { KeyedBudget } from "../../../layers/infra/concurrency/KeyedBudget.ts"
import { RequestMetrics } from "../pages/RequestMetrics.ts"
import { isAddressKey } from "../request/ClientAddress.ts"
import { disconnectIfSlow } from "./PacedResponse.ts"
import type { TakeTurn } from "./ResponseWriter.ts"

const mebibyte = 1024 * 1024

/** Bytes in write buffers that clients have not read yet. Those of nobody known do not use up the budget of callers. */
const unreadLimits = { maxPerKey: 32 * mebibyte, max: 256 * mebibyte }
const anonymousUnreadLimits = { maxPerKey: 16 * mebibyte, max: 64 * mebibyte }

/** Concurrent responses written page by page, and chunk by chunk. A page takes more memory than a chunk. */
const listLimits = { maxPerKey: 8, max: 64 }
const fileLimits = { maxPerKey: 64, max: 256 }
const exportLimits = { maxPerKey: 1, max: 16 }
/** An export reads rows and compresses them for as long as its client reads. Few do so at a time, in turns. */
const exportTurns = {
  permits: 4,
  maxPerKey: 1,
  maxQueuedPerKey: exportLimits.maxPerKey,
  maxQueued: exportLimits.max,
  timeout: "5 minutes"
} as const

/**
 * How long a request takes at least that is rejected with 429. A client that repeats a rejected request at once would
 * otherwise take as much CPU as it has connections for, which others lack.
 */
const rejectionDelayMs = 2000
/** Requests that wait for their 429. Beyond this it comes at once, so that the memory of these requests is bounded. */
const maxDelayedRejections = 4096

/** Responds to a rejected request of the given age after a delay, or when its client disconnects. */
export const makeRejectionDelay = (delayMs = rejectionDelayMs, maxDelayed = maxDelayedRejections) => {
  let delayed = 0
  return (response: ServerResponse, ageMs: number, respond: () => void) => {
    if (delayed >= maxDelayed || ageMs >= delayMs || response.destroyed) return respond()
    delayed++
    const settle = () => {
      clearTimeout(timer)
      response.off("close", settle)
      delayed--
      respond()
    }
    const timer = setTimeout(settle, delayMs - ageMs)
    response.on("close", settle)
  }
}

/** Limits the memory of responses while clients read them. */
export const makeResponseLimits = Effect.map(RequestMetrics, ({ makeReject }) => {
  const unreadOfCallers = new KeyedBudget(unreadLimits)
  const unreadOfAddresses = new KeyedBudget(anonymousUnreadLimits)
  const unreadOf = ([key = ""]: ReadonlyArray<string>) => (isAddressKey(key) ? unreadOfAddresses : unreadOfCallers)
  const rejectUnread = makeReject("unread responses", "unread")
  const rejections = {
    lists: makeReject("lists in progress", "lists"),
    files: makeReject("files in progress", "files"),
    exports: makeReject("exports in progress", "exports")
  }
  const turns = makeFairSemaphore(exportTurns, rejections.exports)
  const budgets = {
    lists: new KeyedBudget(listLimits),
    files: new KeyedBudget(fileLimits),
    exports: new KeyedBudget(exportLimits)
  }

  return {
    /** Returns the error if clients of these keys have too many unread bytes. */
    checkUnread: (keys: ReadonlyArray<string>) => {
      const full = unreadOf(keys).rejectionFor(keys, 1)
      return full === undefined ? undefined : rejectUnread(full)
    },

    /** Returns the error if another response of this kind would be rejected when its first bytes are ready. */
    checkLimited: (kind: keyof typeof budgets, keys: ReadonlyArray<string>) => {
      const full = budgets[kind].rejectionFor(keys, 1)
      return full === undefined ? undefined : rejections[kind](full)
    },

    /** Counts the unread bytes of an ended response until the connection closes or has sent them. */
    trackUnread: (response: ServerResponse, keys: ReadonlyArray<string>) => {
      const unreadBytes = response.writableLength
      if (unreadBytes === 0 || response.destroyed) return
      disconnectIfSlow(response, unreadBytes)
      // An error before anything is known of the client is short.
      if (keys.length === 0) return
      const unread = unreadOf(keys)
      unread.acquire(keys, unreadBytes)
      response.once("close", () => unread.release(keys, unreadBytes))
    },

    /** How responses of a kind take turns. */
    turnOf: (kind: keyof typeof budgets, keys: ReadonlyArray<string>): TakeTurn =>
      kind === "exports" ? (produce) => turns.withPermit(keys, produce) : (produce) => produce,

    /** Writes a response in pieces, unless these keys have too many such responses already. */
    writeLimited: <A, E>(
      kind: keyof typeof budgets,
      keys: ReadonlyArray<string>,
      write: Effect.Effect<A, E>
    ): Effect.Effect<A, E | TooManyRequests | ServiceUnavailable> =>
      Effect.suspend((): Effect.Effect<A, E | TooManyRequests | ServiceUnavailable> => {
        const budget = budgets[kind]
        const full = budget.rejectionFor(keys, 1)
        if (full !== undefined) return Effect.fail(rejections[kind](full))
        budget.acquire(keys, 1)
        return Effect.ensuring(
          write,
          Effect.sync(() => budget.release(keys, 1))
        )
      })
  }
})

export type ResponseLimits = Effect.Effect.Success<typeof makeResponseLimits>
