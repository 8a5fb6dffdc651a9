import { HttpApiSchema } from "@effect/platform"
import { Either, Schema } from "effect"
import type { Constraint } from "./Constraints.ts"
import { field } from "./Schemas.ts"

/** Maximum number of details in one error response. */
export const maxDetails = 100

const validationMessage = "Request validation failed"

/** The `_tag` of an error. In the response body it is the field `error`. */
const errorTag = <const Tag extends string>(name: Tag) =>
  field(Schema.Literal(name), "Name of the error.").pipe(
    Schema.propertySignature,
    Schema.fromKey("error"),
    Schema.withConstructorDefault(() => name)
  )

const fixedMessage = <const Text extends string>(text: Text) =>
  field(Schema.Literal(text), "The error in words.").pipe(
    Schema.propertySignature,
    Schema.withConstructorDefault(() => text)
  )

/** An error text that varies, with one of its values. */
const variableMessage = (example: string) => field(Schema.String, "The error in words.", example)

export const ErrorDetail = Schema.Struct({
  field: field(Schema.String, "Path of the field, parameter or header, such as `billables[2].name`.", "name"),
  message: field(
    Schema.String,
    "What is wrong with it. Completes a sentence that begins with the field.",
    "is required"
  ),
  constraint: field(Schema.String, "The violated rule, as a word for programs.", "required")
}).annotations({ description: "One error of a request." })
export type ErrorDetail = { readonly field: string; readonly message: string; readonly constraint: Constraint }

export class ValidationError extends Schema.Class<ValidationError>("ValidationError")(
  {
    _tag: errorTag("ValidationError"),
    message: variableMessage(validationMessage),
    details: Schema.optionalWith(field(Schema.Array(ErrorDetail), "One item for each invalid field."), { exact: true })
  },
  HttpApiSchema.annotations({
    status: 400,
    description: `The request is invalid. \`details\` has one item for each invalid field, at most ${maxDetails}.`
  })
) {}

export class Unauthorized extends Schema.Class<Unauthorized>("Unauthorized")(
  { _tag: errorTag("Unauthorized"), message: fixedMessage("Unauthorized") },
  HttpApiSchema.annotations({ status: 401, description: "The request has no valid bearer token." })
) {}

export class Forbidden extends Schema.Class<Forbidden>("Forbidden")(
  { _tag: errorTag("Forbidden"), message: fixedMessage("Forbidden") },
  HttpApiSchema.annotations({
    status: 403,
    description: "The caller has no access to the tenant, or too low a role in it."
  })
) {}

export class NotFound extends Schema.Class<NotFound>("NotFound")(
  { _tag: errorTag("NotFound"), message: fixedMessage("Not Found") },
  HttpApiSchema.annotations({
    status: 404,
    description: "The resource does not exist, or the caller has no access to it."
  })
) {}

export class Conflict extends Schema.Class<Conflict>("Conflict")(
  { _tag: errorTag("Conflict"), message: variableMessage("The Idempotency-Key was used for another request") },
  HttpApiSchema.annotations({ status: 409, description: "The Idempotency-Key was used for a different request." })
) {}

export class PreconditionFailed extends Schema.Class<PreconditionFailed>("PreconditionFailed")(
  { _tag: errorTag("PreconditionFailed"), message: fixedMessage("Precondition Failed") },
  HttpApiSchema.annotations({ status: 412, description: "The resource has another version than that of `If-Match`." })
) {}

export class PayloadTooLarge extends Schema.Class<PayloadTooLarge>("PayloadTooLarge")(
  { _tag: errorTag("PayloadTooLarge"), message: variableMessage("The body may have at most 1048576 bytes") },
  HttpApiSchema.annotations({ status: 413, description: "The body is larger than the operation accepts." })
) {}

export class UnsupportedMediaType extends Schema.Class<UnsupportedMediaType>("UnsupportedMediaType")(
  {
    _tag: errorTag("UnsupportedMediaType"),
    message: variableMessage("Send the body as Content-Type: application/json")
  },
  HttpApiSchema.annotations({
    status: 415,
    description: "The body has a media type that the operation does not accept."
  })
) {}

export class TooManyRequests extends Schema.Class<TooManyRequests>("TooManyRequests")(
  { _tag: errorTag("TooManyRequests"), message: fixedMessage("Too Many Requests") },
  HttpApiSchema.annotations({
    status: 429,
    description: "The caller or the tenant sends too many requests. Try again after the seconds in `Retry-After`."
  })
) {}

export class InternalError extends Schema.Class<InternalError>("InternalError")(
  { _tag: errorTag("InternalError"), message: fixedMessage("Internal Server Error") },
  HttpApiSchema.annotations({
    status: 500,
    description: "The service failed. Its log has the cause under the `x-request-id`."
  })
) {}

export class ServiceUnavailable extends Schema.Class<ServiceUnavailable>("ServiceUnavailable")(
  { _tag: errorTag("ServiceUnavailable"), message: fixedMessage("Service Unavailable") },
  HttpApiSchema.annotations({
    status: 503,
    description: "The service is overloaded or starting. Try again after the seconds in `Retry-After`."
  })
) {}

/** A 503 with its reason. The log tells it, the response does not. */
export class Unavailable extends ServiceUnavailable {
  readonly reason: string = ""

  static because(reason: string) {
    return Object.assign(new Unavailable(), { reason })
  }
}

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

/** Builds the 400 error of an invalid request, with one detail per field. */
export const validationError = (...details: ReadonlyArray<ErrorDetail>) =>
  new ValidationError({ message: validationMessage, details: details.slice(0, maxDetails) })

/** Builds the 400 error of a business rule that one field violates. */
export const fieldError = (field: string, constraint: Constraint, message: string) =>
  validationError({ field, constraint, message })

/** Fails with all validation errors of a request, if there are any. */
export const requireNoErrors = (details: ReadonlyArray<ErrorDetail>): Either.Either<void, ValidationError> =>
  details.length === 0 ? Either.void : Either.left(validationError(...details))
