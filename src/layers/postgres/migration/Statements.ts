/** What a semicolon does not end a statement in: quoted text, quoted names, dollar-quoted bodies and comments. */
const opaque = /'(?:[^']|'')*'|"(?:[^"]|"")*"|(\$\w*\$)[\s\S]*?\1|--[^\n]*|\/\*[\s\S]*?\*\//g

/** The statements of a migration, each with the comments before it. Comments alone are no statement. */
export const statementsOf = (text: string): ReadonlyArray<string> => {
  const masked = text.replace(opaque, (part) => "_".repeat(part.length))
  const ends = [...masked.matchAll(/;/g)].map(({ index }) => index + 1)
  return [...ends, text.length]
    .map((end, n) => text.slice(n === 0 ? 0 : ends[n - 1], end).trim())
    .filter((statement) => withoutComments(statement) !== "")
}

/** The statement alone, in one line. */
export const withoutComments = (statement: string) =>
  statement
    .replace(opaque, (part) => (/^(--|\/\*)/.test(part) ? " " : part))
    .replace(/\s+/g, " ")
    .replace(/;\s*$/, "")
    .trim()
