/** Tokens in which a semicolon ends no statement: strings, quoted identifiers, dollar-quoted bodies and comments. */
const opaqueTokens = /'(?:[^']|'')*'|"(?:[^"]|"")*"|(\$\w*\$)[\s\S]*?\1|--[^\n]*|\/\*[\s\S]*?\*\//g

/** Splits a migration into statements, each with its preceding comments. Trailing comments are dropped. */
export const splitStatements = (text: string): ReadonlyArray<string> => {
  const masked = text.replace(opaqueTokens, (part) => "_".repeat(part.length))
  const ends = [...masked.matchAll(/;/g)].map(({ index }) => index + 1)
  return [...ends, text.length]
    .map((end, n) => text.slice(n === 0 ? 0 : ends[n - 1], end).trim())
    .filter((statement) => stripComments(statement) !== "")
}

/** Removes comments and collapses whitespace into one line. */
export const stripComments = (statement: string) =>
  statement
    .replace(opaqueTokens, (part) => (/^(--|\/\*)/.test(part) ? " " : part))
    .replace(/\s+/g, " ")
    .replace(/;\s*$/, "")
    .trim()
