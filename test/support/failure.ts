import { assert } from "vitest"
import type { RawAnswer } from "./rawHttp.ts"

export type Fault = readonly [field: string, constraint: string, message: string]

/** The exact text of a 400 that names these faults, in this order. */
export const invalidText = (...faults: ReadonlyArray<Fault>) => {
  const details = faults.map(
    ([field, constraint, message]) =>
      `{"field":${JSON.stringify(field)},"message":${JSON.stringify(message)},"constraint":"${constraint}"}`
  )
  return `{"error":"ValidationError","message":"Request validation failed","details":[${details.join(",")}]}`
}

export const notFoundText = `{"error":"NotFound","message":"Not Found"}`
export const unauthorizedText = `{"error":"Unauthorized","message":"Unauthorized"}`
export const forbiddenText = `{"error":"Forbidden","message":"Forbidden"}`
export const tooManyText = `{"error":"TooManyRequests","message":"Too Many Requests"}`
export const internalText = `{"error":"InternalError","message":"Internal Server Error"}`
export const unavailableText = `{"error":"ServiceUnavailable","message":"Service Unavailable"}`

/** A failure to the last byte: status, body, and the headers every one of them has. */
export const assertFailure = (answer: RawAnswer, status: number, text: string, what?: string) => {
  assert.deepStrictEqual([answer.status, answer.text], [status, text], what)
  assert.strictEqual(answer.headers.get("content-type"), "application/json", what)
  assert.match(answer.headers.get("x-request-id") ?? "", /^[\w.:-]{1,128}$/, what)
  assert.strictEqual(answer.headers.get("x-content-type-options"), "nosniff", what)
}

export const assertInvalid = (answer: RawAnswer, ...faults: ReadonlyArray<Fault>) =>
  assertFailure(answer, 400, invalidText(...faults))

export const assertUnavailable = (answer: RawAnswer) => {
  assertFailure(answer, 503, unavailableText)
  assert.match(answer.headers.get("retry-after") ?? "", /^[1-9]\d*$/)
}

export const assertTooMany = (answer: RawAnswer) => {
  assertFailure(answer, 429, tooManyText)
  assert.match(answer.headers.get("retry-after") ?? "", /^[1-9]\d*$/)
}
