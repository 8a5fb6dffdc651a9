import pg from "pg"
import { toIso } from "./Timestamps.ts"

type TypeParser = (text: string) => unknown

/** Convert to domain types: timestamps to ISO text, integers and decimals to numbers. */
const parsers = new Map<number, TypeParser>([
  [pg.types.builtins.TIMESTAMPTZ, toIso],
  [pg.types.builtins.INT8, Number],
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
