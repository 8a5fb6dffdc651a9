import { Either } from "effect"
import { assert } from "vitest"
import type { ValidationError } from "../../../src/domain/Errors.ts"

/** The fields and constraints that a decision fails on, or undefined if it passes. */
export const errorsOf = (decision: Either.Either<unknown, ValidationError>) =>
  Either.isLeft(decision)
    ? (decision.left.details ?? []).map(({ constraint, field }) => `${field} ${constraint}`)
    : undefined

/** The same with the message of each error, which API users read. */
export const messagesOf = (decision: Either.Either<unknown, ValidationError>) =>
  Either.isLeft(decision)
    ? (decision.left.details ?? []).map(({ constraint, field, message }) => `${field} ${constraint}: ${message}`)
    : undefined

export const assertPasses = <A>(decision: Either.Either<A, ValidationError>, expected: A) =>
  assert.deepStrictEqual(decision, Either.right(expected))
