const maxShownCharacters = 40

/** A text that a request sent, cut to a length that fits in an error message. */
export const shorten = (text: string) => {
  // The first slice bounds the work, the second the result; splitting by code points keeps surrogate pairs whole.
  const characters = [...text.slice(0, 2 * maxShownCharacters + 2)]
  return characters.length <= maxShownCharacters && text.length <= 2 * maxShownCharacters
    ? text
    : `${characters.slice(0, maxShownCharacters).join("")}…`
}

const jsonTypeNames: Readonly<Record<string, string>> = {
  string: "a string",
  number: "a number",
  boolean: "true or false",
  object: "an object"
}

/** The JSON type of a value in words. */
export const jsonTypeOf = (value: unknown) => {
  if (value === null) return "null"
  return Array.isArray(value) ? "an array" : (jsonTypeNames[typeof value] ?? "missing")
}

/** A rejected value in an error message. Strings are quoted and shortened; objects and arrays are only named. */
export const describeValue = (value: unknown) => {
  if (typeof value === "string") return JSON.stringify(shorten(value))
  return typeof value === "number" || typeof value === "boolean" ? String(value) : jsonTypeOf(value)
}

/**
 * Appends the rejected value to a requirement: `must be at least 0, but is -1`. Only for values that are neither secret nor
 * personal, because clients log error messages.
 */
export const butIs = (requirement: string) => (value: unknown) => `${requirement}, but is ${describeValue(value)}`
