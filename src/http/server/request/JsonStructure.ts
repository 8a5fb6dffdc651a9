/** How many values a JSON text holds, and how deep its arrays and objects nest. */
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

/** What each byte means outside of strings. */
const meanings = new Uint8Array(256).fill(other)
for (const [characters, meaning] of [
  [" \t\n\r", space],
  ["[{", opening],
  ["]}", closing],
  [",", comma],
  ['"', text]
] as const) {
  for (const character of characters) meanings[character.charCodeAt(0)] = meaning
}

/** The index of the quote that ends the string beginning at `start`; beyond the text if nothing ends it. */
const endOfString = (bytes: Uint8Array, start: number) => {
  let at = start + 1
  while (at < bytes.length && bytes[at] !== quote) at += bytes[at] === backslash ? 2 : 1
  return at
}

/**
 * Counts the structure of a JSON text without building it, and stops as soon as it is beyond `max`. A text that is not
 * JSON gets some count: `JSON.parse` rejects it afterwards.
 *
 * The root is one value, every comma announces one more, and so does every array or object that is not empty.
 */
export const measureJson = (bytes: Uint8Array, max: JsonStructure): JsonStructure => {
  let values = 1
  let depth = 0
  let level = 0
  let isEmpty = false
  for (let at = 0; at < bytes.length; at++) {
    const meaning = meanings[bytes[at] ?? 0]
    if (meaning === space) continue
    if (meaning === other) {
      isEmpty = false
      continue
    }
    if (meaning === text) at = endOfString(bytes, at)
    else if (meaning === comma || (meaning === closing && !isEmpty)) values++
    if (meaning === opening) depth = Math.max(depth, ++level)
    else if (meaning === closing) level--
    if (values > max.values || depth > max.depth) break
    isEmpty = meaning === opening
  }
  return { values, depth }
}
