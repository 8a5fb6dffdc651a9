import pg from "pg"

/**
 * PostgreSQL writes `2026-11-14 09:30:00.12+00` in a UTC session, without trailing zeros of the fraction.
 * The API always shows milliseconds.
 */
export const toIso = (text: string) => {
  const fraction = text.slice(19, -3)
  return text.endsWith("+00") && text.length <= 26
    ? `${text.slice(0, 10)}T${text.slice(11, 19)}${fraction === "" ? ".000" : fraction.padEnd(4, "0")}Z`
    : new Date(text).toISOString()
}

const toArrayElement = (value: unknown): string => {
  if (value === null || value === undefined) return "NULL"
  if (Array.isArray(value)) return toArrayLiteral(value)
  if (value instanceof Uint8Array) return `"\\\\x${Buffer.from(value).toString("hex")}"`
  return `"${String(toParameter(value)).replace(/[\\"]/g, "\\$&")}"`
}

const toArrayLiteral = (values: ReadonlyArray<unknown>) => `{${values.map(toArrayElement).join(",")}}`

/** Converts a value to the text format of PostgreSQL; bytes stay bytes. */
export const toParameter = (value: unknown): string | Buffer | null => {
  switch (typeof value) {
    case "string":
      return value
    case "undefined":
      return null
    case "object":
      if (value === null) return null
      if (value instanceof Uint8Array) return Buffer.from(value.buffer, value.byteOffset, value.byteLength)
      if (value instanceof Date) return value.toISOString()
      return Array.isArray(value) ? toArrayLiteral(value) : JSON.stringify(value)
    default:
      return String(value)
  }
}

/** An integer that a number does not hold exactly. */
export class InexactInteger extends RangeError {}

const toExactInteger = (text: string) => {
  const value = Number(text)
  if (!Number.isSafeInteger(value)) throw new InexactInteger(`${text} is beyond the exact range of numbers`)
  return value
}

type TypeParser = (text: string) => unknown

/**
 * Convert to domain types: timestamps to ISO text, dates stay text, integers and decimals to numbers. A statement with an
 * integer beyond the exact range fails, because a rounded amount would look like an amount.
 */
const parsers = new Map<number, TypeParser>([
  [pg.types.builtins.TIMESTAMPTZ, toIso],
  [pg.types.builtins.DATE, (text) => text],
  [pg.types.builtins.INT8, toExactInteger],
  [pg.types.builtins.NUMERIC, Number]
])

/** The parser of a type's text format. The driver's own look-up is slower. */
export const typeParserOf = (oid: number): TypeParser => {
  const known = parsers.get(oid)
  if (known !== undefined) return known
  const builtIn = pg.types.getTypeParser(oid, "text")
  parsers.set(oid, builtIn)
  return builtIn
}

/** For the queries that the driver parses itself. */
export const typeParsers: pg.CustomTypesConfig = {
  getTypeParser: (oid: number, format?: "text" | "binary") =>
    format === "binary" ? pg.types.getTypeParser(oid, "binary") : typeParserOf(oid)
}
