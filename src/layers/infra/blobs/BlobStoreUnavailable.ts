import { Data } from "effect"
import { isUnreachable } from "../postgres/connection/TransientErrors.ts"

/** The store is unreachable, overloaded or too slow. A retry of the same request can succeed. */
export class BlobStoreUnavailable extends Data.TaggedError("BlobStoreUnavailable")<{ readonly cause: unknown }> {
  override get message() {
    return `The blob store is unavailable: ${this.cause instanceof Error ? this.cause.message : String(this.cause)}`
  }
}

const transientErrorNames = new Set(["TimeoutError", "RequestTimeout", "SlowDown"])

const statusOf = (cause: Error) => {
  const metadata: unknown = "$metadata" in cause ? cause.$metadata : undefined
  const status =
    typeof metadata === "object" && metadata !== null && "httpStatusCode" in metadata ? metadata.httpStatusCode : 0
  return typeof status === "number" ? status : 0
}

const isTransientError = (cause: Error) =>
  transientErrorNames.has(cause.name) || isUnreachable(cause) || statusOf(cause) === 429 || statusOf(cause) >= 500

/** Wraps a transient error of the store as StoreUnavailable and returns any other error unchanged. */
export const toStoreDefect = (cause: unknown) =>
  cause instanceof Error && isTransientError(cause) ? new BlobStoreUnavailable({ cause }) : cause
