/** What an Idempotency-Key may look like. */
export const keyPattern = /^[\x21-\x7e]{1,255}$/
