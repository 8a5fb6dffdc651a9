import { Either } from "effect"
import { assert } from "vitest"
import type { ValidationError } from "../../../src/domain/Errors.ts"

/** The fields and constraints that a decision fails on, or undefined if it passes. */
export const errorsOf = (decision: Either.Either<unknown, ValidationError>) =>
  Either.isLeft(decision)
    ? (decision.left.details ?? []).map(({ constraint, field }) => `${field} ${constraint}`)
    : undefined

export const assertPasses = <A>(decision: Either.Either<A, ValidationError>, expected: A) =>
  assert.deepStrictEqual(decision, Either.right(expected))
