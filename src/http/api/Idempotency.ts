/** A valid Idempotency-Key. */
export const idempotencyKeyPattern = /^[\x21-\x7e]{1,255}$/
