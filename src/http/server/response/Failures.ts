import { HttpApiSchema } from "@effect/platform"
import { Cause, Effect, Option, Schema } from "effect"
import { InternalError, ServiceUnavailable, WireError } from "../../../domain/Errors.ts"
import { StoreUnavailable } from "../../../layers/blobs/StoreUnavailable.ts"
import { isOutage } from "../../../layers/postgres/connection/Outage.ts"

const isWireError = Schema.is(WireError)

const statusByTag = new Map<string, number>(
  WireError.members.map((member) => [member.identifier, HttpApiSchema.getStatusError(member)])
)

export const statusOf = (error: WireError) => statusByTag.get(error._tag) ?? 500

/** The flat body: the tag travels as `error`, and nothing is there that the interface does not name. */
export const bodyOf = (error: WireError) =>
  JSON.stringify({
    error: error._tag,
    message: error.message,
    details: error._tag === "ValidationError" ? error.details : undefined
  })

/** When to try again: a queue of one's own empties sooner than an outage passes. */
const retryAfterSeconds = { TooManyRequests: 1, ServiceUnavailable: 2 }

/** Headers a failure brings along. */
export const headersOf = (error: WireError): Record<string, string> => {
  if (error._tag === "Unauthorized") return { "www-authenticate": "Bearer" }
  return error._tag === "TooManyRequests" || error._tag === "ServiceUnavailable"
    ? { "retry-after": String(retryAfterSeconds[error._tag]) }
    : {}
}

/** Who did not answer us, when that is what went wrong. */
const silentOne = (defect: unknown) => {
  if (isOutage(defect)) return "The database"
  return defect instanceof StoreUnavailable ? "The blob store" : undefined
}

/** What the caller is told of whatever went wrong. Our own faults are logged whole and told by name only. */
export const toWireError = (cause: Cause.Cause<WireError>): Effect.Effect<WireError> => {
  const failure = Option.getOrUndefined(Cause.failureOption(cause))
  if (failure !== undefined && isWireError(failure)) return Effect.succeed(failure)
  if (Cause.isInterruptedOnly(cause)) return Effect.as(Effect.logDebug("The caller left"), new ServiceUnavailable())
  const silent = silentOne(Cause.squash(cause))
  return silent !== undefined
    ? Effect.as(Effect.logWarning(`${silent} did not answer`, cause), new ServiceUnavailable())
    : Effect.as(Effect.logError("A request failed for a fault of ours", cause), new InternalError())
}
