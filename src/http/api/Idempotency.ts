/** A valid Idempotency-Key. */
export const keyPattern = /^[\x21-\x7e]{1,255}$/
