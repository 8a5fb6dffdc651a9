import { Data } from "effect"
import { isUnreachable } from "../postgres/connection/Outage.ts"

/** The store outside is away, overloaded, or too slow: the same request may succeed a moment later. */
export class StoreUnavailable extends Data.TaggedError("StoreUnavailable")<{ readonly cause: unknown }> {
  override get message() {
    return `The blob store did not answer: ${this.cause instanceof Error ? this.cause.message : String(this.cause)}`
  }
}

const passingNames = new Set(["TimeoutError", "RequestTimeout", "SlowDown"])

const statusOf = (cause: Error) => {
  const about: unknown = "$metadata" in cause ? cause.$metadata : undefined
  const status = typeof about === "object" && about !== null && "httpStatusCode" in about ? about.httpStatusCode : 0
  return typeof status === "number" ? status : 0
}

const isPassing = (cause: Error) =>
  passingNames.has(cause.name) || isUnreachable(cause) || statusOf(cause) === 429 || statusOf(cause) >= 500

/** What went wrong with the store, told apart: what passes by itself, and what does not. */
export const storeDefect = (cause: unknown) =>
  cause instanceof Error && isPassing(cause) ? new StoreUnavailable({ cause }) : cause
