/** Whether PostgreSQL can hold a text: it takes no NUL and no half of a surrogate pair. */
export const isStorable = (text: string) => !text.includes("\u0000") && text.isWellFormed()

/**
 * What PostgreSQL can hold of a text that somebody else wrote, cut to `max` UTF-16 units. The cut comes first, since it
 * may leave half of a pair.
 */
export const storableText = (text: string, max = Number.POSITIVE_INFINITY) =>
  text.replaceAll("\u0000", "").slice(0, max).toWellFormed()
