/** Whether PostgreSQL can store a text: it rejects NUL and unpaired surrogates. */
export const isStorable = (text: string) => !text.includes("\u0000") && text.isWellFormed()

/**
 * Makes a foreign text storable in PostgreSQL and truncates it to `max` UTF-16 units. Truncation precedes the repair of
 * surrogates, because it can split a pair.
 */
export const toStorableText = (text: string, max = Number.POSITIVE_INFINITY) =>
  text.replaceAll("\u0000", "").slice(0, max).toWellFormed()
