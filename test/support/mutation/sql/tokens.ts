/** A token of SQL in a template: where it is, and what it says. Comments and white space are left out. */
export interface Token {
  readonly kind: "word" | "operator" | "text" | "number" | "name" | "mark" | "hole"
  readonly text: string
  /** The literal part of the template that contains it, and its characters there. */
  readonly part: number
  readonly from: number
  readonly to: number
}

const pattern = new RegExp(
  [
    String.raw`(?<skipped>\s+|--[^\n]*|/\*[\s\S]*?\*/)`,
    "(?<text>'(?:[^']|'')*')",
    `(?<name>"[^"]*")`,
    String.raw`(?<word>[a-z_]\w*)`,
    String.raw`(?<number>\d+(?:\.\d+)?)`,
    "(?<operator>[-<>=!~@#%^&|?+*/:]+)",
    String.raw`(?<mark>[(),.;[\]])`
  ].join("|"),
  "iuy"
)

const kinds = ["text", "name", "word", "number", "operator", "mark"] as const

/** The end of a quoted text that began before a hole. */
const restOfText = /^(?:[^']|'')*'(?!')/

const tokensOf = (source: string, part: number, isQuoted: boolean) => {
  const tokens: Array<Token> = []
  const end = isQuoted ? (restOfText.exec(source)?.[0].length ?? source.length) : 0
  if (isQuoted) tokens.push({ kind: "text", text: source.slice(0, end), part, from: 0, to: end })
  pattern.lastIndex = end
  while (pattern.lastIndex < source.length) {
    const from = pattern.lastIndex
    const match = pattern.exec(source)
    if (match === null) {
      tokens.push({ kind: "text", text: source.slice(from), part, from, to: source.length })
      break
    }
    const kind = kinds.find((one) => match.groups?.[one] !== undefined)
    if (kind !== undefined) tokens.push({ kind, text: match[0].toLowerCase(), part, from, to: pattern.lastIndex })
  }
  return tokens
}

const isOpenText = (token: Token | undefined) =>
  token?.kind === "text" && (token.text === "'" || !token.text.endsWith("'"))

/** The tokens of all literal parts of a template, with a hole for each expression between them. */
export const tokenize = (parts: ReadonlyArray<string>): ReadonlyArray<Token> => {
  const tokens: Array<Token> = []
  let isQuoted = false
  for (const [part, source] of parts.entries()) {
    tokens.push(...tokensOf(source, part, isQuoted))
    isQuoted = isOpenText(tokens.at(-1))
    if (part < parts.length - 1) tokens.push({ kind: "hole", text: "", part, from: source.length, to: source.length })
  }
  return tokens
}
