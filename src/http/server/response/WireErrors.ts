import { HttpApiSchema } from "@effect/platform"
import { Cause, Effect, Option, Schema } from "effect"
import { ApiError, InternalError, ServiceUnavailable, Unavailable } from "../../../domain/Errors.ts"
import { BlobStoreUnavailable } from "../../../layers/infra/blobs/BlobStoreUnavailable.ts"
import { isTransient, isWithoutConnection } from "../../../layers/infra/postgres/connection/TransientErrors.ts"

const isWireError = Schema.is(ApiError)

const statusByTag = new Map<string, number>(
  ApiError.members.map((member) => [member.identifier, HttpApiSchema.getStatusError(member)])
)

export const errorStatusOf = (error: ApiError) => statusByTag.get(error._tag) ?? 500

/** The flat error body. The tag is sent as `error`; fields that the OpenAPI document does not list are dropped. */
export const errorBodyOf = (error: ApiError) =>
  JSON.stringify({
    error: error._tag,
    message: error.message,
    details: error._tag === "ValidationError" ? error.details : undefined
  })

/** A caller's own queue empties sooner than an outage ends. */
const retryAfterSeconds = { TooManyRequests: 1, ServiceUnavailable: 2 }

/** Headers of an error response. */
export const errorHeadersOf = (error: ApiError): Record<string, string> => {
  if (error._tag === "Unauthorized") return { "www-authenticate": "Bearer" }
  return error._tag === "TooManyRequests" || error._tag === "ServiceUnavailable"
    ? { "retry-after": String(retryAfterSeconds[error._tag]) }
    : {}
}

/** The dependency that is down, if that caused the defect. */
const unavailableDependency = (defect: unknown) => {
  if (isTransient(defect)) return "The database"
  return defect instanceof BlobStoreUnavailable ? "The blob store" : undefined
}

const noConnection = Unavailable.because("a statement waited for too long for a connection to the database")

/** Maps a cause to the error of the response. Defects are logged in full; the client gets a generic error. */
export const toWireError = (cause: Cause.Cause<ApiError>): Effect.Effect<ApiError> => {
  const failure = Option.getOrUndefined(Cause.failureOption(cause))
  if (failure !== undefined && isWireError(failure)) return Effect.succeed(failure)
  if (Cause.isInterruptedOnly(cause))
    return Effect.as(Effect.logDebug("The client disconnected"), new ServiceUnavailable())
  const defect = Cause.squash(cause)
  if (isWithoutConnection(defect)) return Effect.succeed(noConnection)
  const dependency = unavailableDependency(defect)
  return dependency !== undefined
    ? Effect.as(Effect.logWarning(`${dependency} is unavailable`, cause), new ServiceUnavailable())
    : Effect.as(Effect.logError("A request failed with an internal error", cause), new InternalError())
}
