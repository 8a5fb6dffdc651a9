import { assert } from "vitest"
import { type QuotaName, quotas } from "../../../src/domain/quotas/Quotas.ts"
import { describeValue, jsonTypeOf } from "../../../src/domain/RejectedValue.ts"
import { type RawResponse, sentValue } from "../servers/rawHttp.ts"

export type ExpectedError = readonly [field: string, constraint: string, message: string]

/** What a 400 says of an addition beyond a quota. */
export const quotaError = (name: QuotaName, max: number, field: string): ExpectedError => {
  const { counts, remedy, setting } = quotas[name]
  return [
    field,
    "quota",
    `exceeds the quota ${name} of ${max} ${counts}: ${remedy}, or ask the operator to raise ${setting}`
  ]
}

/** The exact text of a 400 that names these faults, in this order. */
export const validationErrorText = (...faults: ReadonlyArray<ExpectedError>) => {
  const details = faults.map(
    ([field, constraint, message]) =>
      `{"field":${JSON.stringify(field)},"message":${JSON.stringify(message)},"constraint":"${constraint}"}`
  )
  return `{"error":"ValidationError","message":"Request validation failed","details":[${details.join(",")}]}`
}

export const notFoundText = `{"error":"NotFound","message":"Not Found"}`
export const unauthorizedText = `{"error":"Unauthorized","message":"Unauthorized"}`
export const forbiddenText = `{"error":"Forbidden","message":"Forbidden"}`
export const tooManyRequestsText = `{"error":"TooManyRequests","message":"Too Many Requests"}`
export const internalText = `{"error":"InternalError","message":"Internal Server Error"}`
export const unavailableText = `{"error":"ServiceUnavailable","message":"Service Unavailable"}`

/** A failure to the last byte: status, body, and the headers every one of them has. */
export const assertFailure = (answer: RawResponse, status: number, text: string, what?: string) => {
  assert.deepStrictEqual([answer.status, answer.text], [status, text], what)
  assert.strictEqual(answer.headers.get("content-type"), "application/json", what)
  assert.match(answer.headers.get("x-request-id") ?? "", /^[\w.:-]{1,128}$/, what)
  assert.strictEqual(answer.headers.get("x-content-type-options"), "nosniff", what)
}

/** The ways in which a message can end with the rejected value. */
const endingsOf = (value: unknown) => {
  const length = typeof value === "string" ? [...value].length : Object.keys(value ?? {}).length
  return [
    `, but is ${describeValue(value)}`,
    `, but is ${jsonTypeOf(value)}`,
    // A number in a query is sent as text.
    `, but is ${value}`,
    length === 0 ? ", but is empty" : `, but has ${length}`
  ]
}

const time = /\d{4}-\d\d-\d\dT[\d:.]+Z/.source

/** A message about two times, of which one or both can be stored ones. */
const timesEnding = new RegExp(`^, ${time}, but is ${time}$`)

/**
 * Completes expected messages that leave out the rejected value. A completed message ends with the value that the request
 * sent in the field, or with two times, and with nothing else.
 */
export const withRejectedValues = (answer: RawResponse, faults: ReadonlyArray<ExpectedError>) => {
  const { details = [] }: { details?: ReadonlyArray<{ message: string }> } = JSON.parse(answer.text)
  return faults.map(([field, constraint, message], index): ExpectedError => {
    const actual = details[index]?.message ?? ""
    const ending = actual.startsWith(message) ? actual.slice(message.length) : ""
    if (ending === "") return [field, constraint, message]
    const isExpected = endingsOf(sentValue(answer, field)).includes(ending) || timesEnding.test(ending)
    return [field, constraint, isExpected ? actual : message]
  })
}

export const assertValidationError = (answer: RawResponse, ...faults: ReadonlyArray<ExpectedError>) =>
  assertFailure(answer, 400, validationErrorText(...withRejectedValues(answer, faults)))

export const assertUnavailable = (answer: RawResponse) => {
  assertFailure(answer, 503, unavailableText)
  assert.match(answer.headers.get("retry-after") ?? "", /^[1-9]\d*$/)
}

export const assertTooManyRequests = (answer: RawResponse) => {
  assertFailure(answer, 429, tooManyRequestsText)
  assert.match(answer.headers.get("retry-after") ?? "", /^[1-9]\d*$/)
}
