/** The number of values in a JSON text, and the depth of its nesting. */
export interface JsonStructure {
  readonly values: number
  readonly depth: number
}

const quote = 0x22
const backslash = 0x5c

const other = 0
const space = 1
const opening = 2
const closing = 3
const comma = 4
const text = 5

/** The class of each byte outside of strings. */
const byteClasses = new Uint8Array(256).fill(other)
for (const [characters, byteClass] of [
  [" \t\n\r", space],
  ["[{", opening],
  ["]}", closing],
  [",", comma],
  ['"', text]
] as const) {
  for (const character of characters) byteClasses[character.charCodeAt(0)] = byteClass
}

/** So many bytes of a string are read one by one: that takes less time than to begin a search. */
const shortString = 32

const isEscaped = (bytes: Uint8Array, at: number, start: number) => {
  let first = at
  while (first > start && bytes[first - 1] === backslash) first--
  return (at - first) % 2 === 1
}

/** The index of the quote that closes the string at `start`, or an index past the end. */
const endOfString = (bytes: Uint8Array, start: number) => {
  let at = start + 1
  for (;;) {
    const near = at + shortString
    while (at < near) {
      if (at >= bytes.length || bytes[at] === quote) return at
      at += bytes[at] === backslash ? 2 : 1
    }
    // The native search is ten times as fast in a long string.
    const found = bytes.indexOf(quote, at)
    if (found === -1) return bytes.length
    if (!isEscaped(bytes, found, at)) return found
    at = found + 1
  }
}

/**
 * Counts values and depth without parsing, and stops once either exceeds `max`. The counts of invalid JSON mean
 * nothing: `JSON.parse` rejects it afterwards.
 *
 * The root is one value. Every comma and every array or object that is not empty add one.
 */
export const measureJson = (bytes: Uint8Array, max: JsonStructure): JsonStructure => {
  let values = 1
  let depth = 0
  let level = 0
  let isEmpty = false
  for (let at = 0; at < bytes.length; at++) {
    const byteClass = byteClasses[bytes[at] ?? 0]
    if (byteClass === space) continue
    if (byteClass === other) {
      isEmpty = false
      continue
    }
    if (byteClass === text) at = endOfString(bytes, at)
    else if (byteClass === comma || (byteClass === closing && !isEmpty)) values++
    if (byteClass === opening) depth = Math.max(depth, ++level)
    else if (byteClass === closing) level--
    if (values > max.values || depth > max.depth) break
    isEmpty = byteClass === opening
  }
  return { values, depth }
}
