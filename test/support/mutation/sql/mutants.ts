import { type Token, tokenize } from "./tokens.ts"

/** Replaces characters of one literal part of a template. */
export interface Edit {
  readonly part: number
  readonly from: number
  readonly to: number
  readonly text: string
}

/** The edits of one mutant, in the order of the template. */
export type Edits = ReadonlyArray<Edit>

const replace = ({ from, part, to }: Token, text: string): Edit => ({ part, from, to, text })
const insertBefore = ({ from, part }: Token, text: string): Edit => ({ part, from, to: from, text })
const insertAfter = ({ part, to }: Token, text: string): Edit => ({ part, from: to, to, text })

/** How many parentheses are open around each token. */
const depthsOf = (tokens: ReadonlyArray<Token>) => {
  let depth = 0
  return tokens.map(({ text }) => {
    if (text === ")") depth--
    const own = depth
    if (text === "(") depth++
    return own
  })
}

/** A token with what stands around it. */
const placeOf = (tokens: ReadonlyArray<Token>, depths: ReadonlyArray<number>, token: Token, index: number) => {
  const depth = depths[index] ?? 0
  const at = (offset: number) => tokens[index + offset]
  const opening = depths.findLastIndex((other, i) => i < index && other < depth)
  return {
    tokens,
    depths,
    token,
    index,
    at,
    is: (offset: number, ...texts: ReadonlyArray<string>) => texts.includes(at(offset)?.text ?? ""),
    /** The tokens before it in the same parentheses, the nearest first. */
    before: tokens.filter((_, i) => i > opening && i < index && depths[i] === depth).reverse(),
    isOutermost: depth === 0
  }
}
type Place = ReturnType<typeof placeOf>

const comparisons: Readonly<Record<string, string>> = {
  "<": "<=",
  "<=": "<",
  ">": ">=",
  ">=": ">",
  "=": "<>",
  "<>": "="
}

const clauses = ["set", "where", "select", "on", "from"]

/** The first `=` of an item of `set` assigns to a column or a list. A fragment of several items is what follows a `set`. */
const isAssignment = ({ before, depths, isOutermost, tokens }: Place) => {
  const start = before.findIndex(({ text }) => text === "," || text === "set")
  const item = (start === -1 ? before : before.slice(0, start)).map(({ kind, text }) => (kind === "mark" ? text : kind))
  if (!["word", "word.word", ")("].includes(item.join(""))) return false
  const clause = before.find(({ text }) => clauses.includes(text))
  const isList = tokens[0]?.kind === "word" && tokens.some(({ text }, index) => text === "," && depths[index] === 0)
  return clause === undefined ? isOutermost && isList : clause.text === "set"
}

const compare = (place: Place): ReadonlyArray<Edits> => {
  const { kind, text } = place.token
  const other = kind === "operator" ? comparisons[text] : undefined
  return other === undefined || (text === "=" && isAssignment(place)) ? [] : [[replace(place.token, other)]]
}

const isMoment = (token: Token | undefined) => token?.kind === "word" && /_(at|until)$/.test(token.text)

/** The token behind which a moment beside a comparison ends: a column, or now(). */
const momentBeside = (place: Place) => {
  const left = place.at(-1)
  if (isMoment(left)) return left
  if (place.is(-3, "now") && place.is(-1, ")")) return left
  const qualified = place.is(2, ".") ? 3 : 1
  if (isMoment(place.at(qualified))) return place.at(qualified)
  return place.is(1, "now") ? place.at(3) : undefined
}

const comparedMoment = (place: Place) => {
  const { kind, text } = place.token
  if (text === "width_bucket") return isMoment(place.at(2)) ? place.at(2) : undefined
  return (kind === "operator" && /^[<>]=?$/.test(text)) || text === "between" ? momentBeside(place) : undefined
}

/** Moves a moment that is compared by an hour. */
const moveMoment = (place: Place): ReadonlyArray<Edits> => {
  const moment = comparedMoment(place)
  return moment === undefined ? [] : ["+", "-"].map((sign) => [insertAfter(moment, ` ${sign} interval '1 hour'`)])
}

const doubleInterval = (place: Place): ReadonlyArray<Edits> =>
  (place.is(0, "interval") && place.at(1)?.kind === "text" && !place.is(-1, "::")) || place.is(0, "make_interval")
    ? [[insertBefore(place.token, "2 * ")]]
    : []

const isBetweensAnd = ({ before }: Place) =>
  before.find(({ text }) => ["between", "and", "or", "where"].includes(text))?.text === "between"

const connect = (place: Place): ReadonlyArray<Edits> => {
  if (place.is(0, "or")) return place.is(-1, "create") ? [] : [[replace(place.token, "and")]]
  return place.is(0, "and") && !isBetweensAnd(place) ? [[replace(place.token, "or")]] : []
}

const notNegated = ["materialized", "null", "valid", "deferrable"]

const negate = (place: Place): ReadonlyArray<Edits> => {
  if (place.is(0, "is") && place.is(1, "null", "distinct")) return [[insertAfter(place.token, " not")]]
  if (!place.is(0, "not")) return []
  const isNegation = place.is(-1, "is") || !(place.is(-1, "if") || place.is(1, ...notNegated))
  return isNegation ? [[replace(place.token, "")]] : []
}

/** The items of the list in the parenthesis at an offset, as the tokens of each. */
const listAt = ({ depths, index, tokens }: Place, offset: number) => {
  const open = index + offset
  const end = tokens.findIndex(({ text }, i) => i > open && text === ")" && depths[i] === depths[open])
  const close = tokens[end]
  if (close === undefined) return undefined
  const inner = tokens.slice(open + 1, end)
  const commas = inner.filter(({ text }, i) => text === "," && depths[open + 1 + i] === (depths[open] ?? 0) + 1)
  return { inner, commas, close }
}

/** Drops one value of `in (…)`, with the comma before it, or after the first. */
const dropValue = (place: Place): ReadonlyArray<Edits> => {
  const list = place.is(0, "in") && place.is(1, "(") ? listAt(place, 1) : undefined
  if (list === undefined || list.commas.length === 0) return []
  const values = list.inner.filter(({ text }) => text !== ",")
  if (values.length !== list.commas.length + 1 || !values.every(({ kind }) => kind === "text")) return []
  return values.map((value, index) => {
    const comma = list.commas[Math.max(0, index - 1)]
    const edits = comma === undefined ? [] : [replace(comma, "")]
    return index === 0 ? [replace(value, ""), ...edits] : [...edits, replace(value, "")]
  })
}

/** Without the fallback, and with nothing else. A `case` has the same type, also when holes are in it. */
const decideCoalesce = (place: Place): ReadonlyArray<Edits> => {
  const list = place.is(0, "coalesce") && place.is(1, "(") ? listAt(place, 1) : undefined
  const [comma] = list?.commas ?? []
  if (list === undefined || comma === undefined) return []
  return ["true", "false"].map((decision) => [
    replace(place.token, `(case when ${decision} then`),
    replace(comma, ") else coalesce("),
    insertAfter(list.close, " end)")
  ])
}

const mutators = [compare, moveMoment, doubleInterval, connect, negate, dropValue, decideCoalesce]

/** All mutants of the SQL in the literal parts of a template. */
export const mutantsOf = (parts: ReadonlyArray<string>): ReadonlyArray<Edits> => {
  const tokens = tokenize(parts)
  const depths = depthsOf(tokens)
  return tokens.flatMap((token, index) => {
    const place = placeOf(tokens, depths, token, index)
    return mutators.flatMap((mutate) => mutate(place))
  })
}

/** The literal parts with the edits of a mutant. */
export const applyEdits = (parts: ReadonlyArray<string>, edits: Edits): ReadonlyArray<string> =>
  parts.map((source, part) =>
    edits
      .filter((edit) => edit.part === part)
      .reduceRight((text, { from, text: inserted, to }) => text.slice(0, from) + inserted + text.slice(to), source)
  )
