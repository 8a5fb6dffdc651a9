import { HttpApiSchema } from "@effect/platform"
import { Either, Schema } from "effect"
import type { Constraint } from "./Schemas.ts"

/** The `_tag` of an error. In the response body it is the field `error`. */
const errorTag = <const Tag extends string>(name: Tag) =>
  Schema.Literal(name).pipe(
    Schema.propertySignature,
    Schema.fromKey("error"),
    Schema.withConstructorDefault(() => name)
  )

const fixedMessage = <const Text extends string>(text: Text) =>
  Schema.Literal(text).pipe(
    Schema.propertySignature,
    Schema.withConstructorDefault(() => text)
  )

export const ErrorDetail = Schema.Struct({ field: Schema.String, message: Schema.String, constraint: Schema.String })
export type ErrorDetail = { readonly field: string; readonly message: string; readonly constraint: Constraint }

export class ValidationError extends Schema.Class<ValidationError>("ValidationError")(
  {
    _tag: errorTag("ValidationError"),
    message: Schema.String,
    details: Schema.optionalWith(Schema.Array(ErrorDetail), { exact: true })
  },
  HttpApiSchema.annotations({ status: 400, description: "The request breaks a rule; every fault is named" })
) {}

export class Unauthorized extends Schema.Class<Unauthorized>("Unauthorized")(
  { _tag: errorTag("Unauthorized"), message: fixedMessage("Unauthorized") },
  HttpApiSchema.annotations({ status: 401, description: "No valid bearer token" })
) {}

export class Forbidden extends Schema.Class<Forbidden>("Forbidden")(
  { _tag: errorTag("Forbidden"), message: fixedMessage("Forbidden") },
  HttpApiSchema.annotations({ status: 403, description: "The caller may not do this in this tenant" })
) {}

export class NotFound extends Schema.Class<NotFound>("NotFound")(
  { _tag: errorTag("NotFound"), message: fixedMessage("Not Found") },
  HttpApiSchema.annotations({ status: 404, description: "There is no such resource for the caller" })
) {}

export class Conflict extends Schema.Class<Conflict>("Conflict")(
  { _tag: errorTag("Conflict"), message: Schema.String },
  HttpApiSchema.annotations({ status: 409, description: "The Idempotency-Key was used for another request" })
) {}

export class PreconditionFailed extends Schema.Class<PreconditionFailed>("PreconditionFailed")(
  { _tag: errorTag("PreconditionFailed"), message: fixedMessage("Precondition Failed") },
  HttpApiSchema.annotations({ status: 412, description: "The resource is not in the version If-Match names" })
) {}

export class PayloadTooLarge extends Schema.Class<PayloadTooLarge>("PayloadTooLarge")(
  { _tag: errorTag("PayloadTooLarge"), message: Schema.String },
  HttpApiSchema.annotations({ status: 413, description: "The body is larger than this operation takes" })
) {}

export class UnsupportedMediaType extends Schema.Class<UnsupportedMediaType>("UnsupportedMediaType")(
  { _tag: errorTag("UnsupportedMediaType"), message: Schema.String },
  HttpApiSchema.annotations({ status: 415, description: "The body is not of a type this operation takes" })
) {}

export class TooManyRequests extends Schema.Class<TooManyRequests>("TooManyRequests")(
  { _tag: errorTag("TooManyRequests"), message: fixedMessage("Too Many Requests") },
  HttpApiSchema.annotations({
    status: 429,
    description: "The caller or the tenant has too many requests at a time; try again after the time in Retry-After"
  })
) {}

export class InternalError extends Schema.Class<InternalError>("InternalError")(
  { _tag: errorTag("InternalError"), message: fixedMessage("Internal Server Error") },
  HttpApiSchema.annotations({ status: 500, description: "A fault of the service, logged under the x-request-id" })
) {}

export class ServiceUnavailable extends Schema.Class<ServiceUnavailable>("ServiceUnavailable")(
  { _tag: errorTag("ServiceUnavailable"), message: fixedMessage("Service Unavailable") },
  HttpApiSchema.annotations({ status: 503, description: "Try again after the time in Retry-After" })
) {}

export const ApiError = Schema.Union(
  ValidationError,
  Unauthorized,
  Forbidden,
  NotFound,
  Conflict,
  PreconditionFailed,
  PayloadTooLarge,
  UnsupportedMediaType,
  TooManyRequests,
  InternalError,
  ServiceUnavailable
)
export type ApiError = typeof ApiError.Type

/** Maximum number of details in one error response. */
export const maxDetails = 100

/** Builds the 400 error of an invalid request, with one detail per field. */
export const validationError = (...details: ReadonlyArray<ErrorDetail>) =>
  new ValidationError({ message: "Request validation failed", details: details.slice(0, maxDetails) })

/** Builds the 400 error of a business rule that one field violates. */
export const fieldError = (field: string, constraint: Constraint, message: string) =>
  validationError({ field, constraint, message })

/** Fails with all validation errors of a request, if there are any. */
export const requireNoErrors = (details: ReadonlyArray<ErrorDetail>): Either.Either<void, ValidationError> =>
  details.length === 0 ? Either.void : Either.left(validationError(...details))
