import { Array as Arr, Effect, Either, Option, ParseResult, Predicate, Schema, SchemaAST } from "effect"
import { maxDetails } from "../../../domain/Errors.ts"
import { yieldToEventLoop } from "../../../layers/concurrency/EventLoop.ts"
import { detailsOf } from "./Issues.ts"

type Issue = ParseResult.ParseIssue
type Parser = (input: unknown, options: SchemaAST.ParseOptions) => Effect.Effect<unknown, Issue>
type Result = Either.Either<unknown, Issue> | Effect.Effect<unknown, Issue>

/** Where a node stands: under a refinement that sets its maximum, and whether decoding may pause there. */
interface Place {
  readonly isBounded: boolean
  /** How many elements of an array are decoded before other requests get their turn. */
  readonly elementsPerTurn: number
}

/** A node that decodes with `parser` what `ast` describes. Unions tell their members apart by the latter. */
const parsedBy = (ast: SchemaAST.AST, makeParser: () => Parser) =>
  new SchemaAST.Declaration([], makeParser, () => ParseResult.succeed, { [SchemaAST.SurrogateAnnotationId]: ast })

const schemaOf = (ast: SchemaAST.AST) => Schema.make<unknown>(ast)

/** The same node, except that `check` looks at the input before any part of it is decoded. */
const checkedBefore = (
  ast: SchemaAST.AST,
  check: (input: unknown, options: SchemaAST.ParseOptions) => Issue | undefined
) =>
  parsedBy(ast, () => {
    const parse = ParseResult.decodeUnknown(schemaOf(ast))
    return (input, options) => {
      const issue = check(input, options)
      return issue === undefined ? parse(input, options) : ParseResult.fail(issue)
    }
  })

const sizes = {
  maxItems: (input: unknown) => (Array.isArray(input) ? input.length : 0),
  maxProperties: (input: unknown) => (Predicate.isRecord(input) ? Object.keys(input).length : 0)
}

/** What measures an input against the refinement's maximum, if it sets one. */
const excessOf = (ast: SchemaAST.Refinement) => {
  const facts: object = Option.getOrElse(SchemaAST.getJSONSchemaAnnotation(ast), () => ({}))
  for (const [name, sizeOf] of Object.entries(sizes)) {
    const max: unknown = Reflect.get(facts, name)
    if (typeof max === "number") return (input: unknown) => sizeOf(input) > max
  }
  return undefined
}

const boundRefinement = (ast: SchemaAST.Refinement, place: Place) => {
  const exceeds = excessOf(ast)
  const from = bound(ast.from, { ...place, isBounded: place.isBounded || exceeds !== undefined })
  const bounded = new SchemaAST.Refinement(from, ast.filter, ast.annotations)
  if (exceeds === undefined) return bounded
  return checkedBefore(bounded, (input) =>
    exceeds(input)
      ? new ParseResult.Refinement(bounded, input, "Predicate", new ParseResult.Type(bounded, input))
      : undefined
  )
}

/** Decodes elements in order, in turns, and ends when no answer has room for the faults of another one. */
const boundArray = (ast: SchemaAST.TupleType, element: SchemaAST.AST, { elementsPerTurn }: Place) =>
  parsedBy(ast, () => {
    const parse = ParseResult.decodeUnknownEither(schemaOf(bound(element, inElement)))
    return (input, options) => {
      if (!Array.isArray(input)) return ParseResult.fail(new ParseResult.Type(ast, input))
      const values: Array<unknown> = []
      const issues: Array<Issue> = []
      let faults = 0
      const decodeFrom = (start: number): Result => {
        const end = Math.min(start + elementsPerTurn, input.length)
        for (let index = start; index < end && faults < maxDetails; index++) {
          const decoded = parse(input[index], options)
          if (Either.isRight(decoded)) values.push(decoded.right)
          else {
            issues.push(new ParseResult.Pointer(index, input, decoded.left))
            faults += detailsOf(decoded.left, "").length
          }
        }
        if (end < input.length && faults < maxDetails) return Effect.flatMap(yieldToEventLoop, () => decodeFrom(end))
        return Arr.isNonEmptyReadonlyArray(issues)
          ? Either.left(new ParseResult.Composite(ast, input, issues, values))
          : Either.right(values)
      }
      return decodeFrom(0)
    }
  })

const isStrict = (ast: SchemaAST.AST) =>
  Option.exists(SchemaAST.getParseOptionsAnnotation(ast), ({ onExcessProperty }) => onExcessProperty === "error")

const protoKey = "__proto__"

/** A record with all of its keys. The library assigns them, which loses the one that names an object's prototype. */
const boundRecord = (ast: SchemaAST.TypeLiteral, value: SchemaAST.AST) =>
  parsedBy(ast, () => {
    const parse = ParseResult.decodeUnknown(schemaOf(ast))
    const parseValue = ParseResult.decodeUnknown(schemaOf(value))
    return (input, options) => {
      if (!Predicate.isRecord(input) || !Object.hasOwn(input, protoKey)) return parse(input, options)
      return ParseResult.flatMap(parse(input, options), (decoded) =>
        ParseResult.map(parseValue(input[protoKey], options), (own) =>
          Object.fromEntries(
            Object.keys(input).map((key) => [key, key === protoKey ? own : Reflect.get(Object(decoded), key)])
          )
        )
      )
    }
  })

/** Reports a flood of unknown keys by the first of them, without decoding the known ones. */
const boundObject = (ast: SchemaAST.TypeLiteral, place: Place) => {
  const properties = ast.propertySignatures.map(
    ({ annotations, isOptional, isReadonly, name, type }) =>
      new SchemaAST.PropertySignature(
        name,
        bound(type, { ...place, isBounded: false }),
        isOptional,
        isReadonly,
        annotations
      )
  )
  const bounded = new SchemaAST.TypeLiteral(properties, ast.indexSignatures, ast.annotations)
  const [index] = ast.indexSignatures
  if (index !== undefined) return boundRecord(bounded, index.type)
  const isOwnStrict = isStrict(ast)
  const known = new Set(properties.map(({ name }) => name))
  return checkedBefore(bounded, (input, { onExcessProperty }) => {
    if (!Predicate.isRecord(input) || !(isOwnStrict || onExcessProperty === "error")) return undefined
    const keys = Object.keys(input)
    if (keys.length <= known.size + maxDetails) return undefined
    const issues = keys
      .filter((key) => !known.has(key))
      .slice(0, maxDetails)
      .map((key) => new ParseResult.Pointer(key, input, new ParseResult.Unexpected(input[key])))
    return Arr.isNonEmptyReadonlyArray(issues) ? new ParseResult.Composite(bounded, input, issues) : undefined
  })
}

const inBody: Place = { isBounded: false, elementsPerTurn: 100 }
const inElement: Place = { isBounded: false, elementsPerTurn: Number.POSITIVE_INFINITY }

const requireMaximum = (ast: SchemaAST.AST, { isBounded }: Place, name: keyof typeof sizes) => {
  if (!isBounded) throw new Error(`The contract sets no ${name} for ${ast} in a body`)
}

const bound = (ast: SchemaAST.AST, place: Place): SchemaAST.AST => {
  switch (ast._tag) {
    case "Refinement":
      return boundRefinement(ast, place)
    case "Transformation":
      return new SchemaAST.Transformation(bound(ast.from, place), ast.to, ast.transformation, ast.annotations)
    case "Union":
      return SchemaAST.Union.make(
        ast.types.map((type) => bound(type, place)),
        ast.annotations
      )
    case "TypeLiteral":
      if (ast.indexSignatures.length > 0) requireMaximum(ast, place, "maxProperties")
      return boundObject(ast, place)
    case "TupleType": {
      requireMaximum(ast, place, "maxItems")
      const [rest] = ast.rest
      return rest === undefined ? ast : boundArray(ast, rest.type, place)
    }
    default:
      return ast
  }
}

/**
 * Decodes a body at a cost that its sender cannot choose: the `maxItems` and `maxProperties` of its schema hold before
 * elements are decoded, no more faults are looked for than one answer reports, and other requests run meanwhile.
 * Throws for a schema with an array or record that has no maximum.
 */
export const boundedDecoder = (ast: SchemaAST.AST) =>
  ParseResult.decodeUnknown(schemaOf(bound(ast, inBody)), { errors: "all" })
