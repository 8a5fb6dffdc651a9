import { Either, Schema } from "effect"
import { assert, describe, it } from "vitest"
import {
  ApiError,
  Forbidden,
  fieldError,
  InternalError,
  maxDetails,
  NotFound,
  PreconditionFailed,
  requireNoErrors,
  ServiceUnavailable,
  TooManyRequests,
  Unauthorized,
  ValidationError,
  validationError
} from "../../src/domain/Errors.ts"

const detail = { field: "name", constraint: "minLength", message: "must have at least 1 character" } as const

describe("ApiError", () => {
  it.each([
    [new Unauthorized(), "Unauthorized", "Unauthorized"],
    [new Forbidden(), "Forbidden", "Forbidden"],
    [new NotFound(), "NotFound", "Not Found"],
    [new PreconditionFailed(), "PreconditionFailed", "Precondition Failed"],
    [new TooManyRequests(), "TooManyRequests", "Too Many Requests"],
    [new InternalError(), "InternalError", "Internal Server Error"],
    [new ServiceUnavailable(), "ServiceUnavailable", "Service Unavailable"]
  ] as const)("encodes its tag as the field error: %s", (failure, error, message) => {
    assert.deepStrictEqual<unknown>(Schema.encodeSync(ApiError)(failure), { error, message })
  })

  it("encodes the details of a ValidationError", () => {
    assert.deepStrictEqual<unknown>(Schema.encodeSync(ApiError)(validationError(detail)), {
      error: "ValidationError",
      message: "Request validation failed",
      details: [detail]
    })
  })
})

describe("validationError", () => {
  it("keeps the first 100 details", () => {
    const details = Array.from({ length: maxDetails + 1 }, (_, n) => ({ ...detail, field: `items[${n}]` }))
    assert.deepStrictEqual(validationError(...details).details, details.slice(0, 100))
  })
})

describe("fieldError", () => {
  it("has one detail", () => {
    const error = fieldError("name", "minLength", "must have at least 1 character")
    assert.instanceOf(error, ValidationError)
    assert.deepStrictEqual(error.details, [detail])
  })
})

describe("requireNoErrors", () => {
  it("passes without errors and fails with all of them", () => {
    assert.isTrue(Either.isRight(requireNoErrors([])))
    const failed = Either.flip(requireNoErrors([detail, { ...detail, field: "other" }]))
    assert.deepStrictEqual(
      Either.getOrThrow(failed).details?.map(({ field }) => field),
      ["name", "other"]
    )
  })
})
