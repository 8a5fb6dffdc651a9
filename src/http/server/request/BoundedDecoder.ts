import { Array as Arr, Effect, Either, Option, ParseResult, Predicate, Schema, SchemaAST } from "effect"
import { maxDetails } from "../../../domain/Errors.ts"
import { yieldToEventLoop } from "../../../layers/infra/concurrency/EventLoop.ts"
import { toValidationDetails } from "./ValidationDetails.ts"

type Issue = ParseResult.ParseIssue
type Parser = (input: unknown, options: SchemaAST.ParseOptions) => Effect.Effect<unknown, Issue>
type Result = Either.Either<unknown, Issue> | Effect.Effect<unknown, Issue>

/** Position of a schema node: whether a refinement above sets its maximum, and whether decoding can yield there. */
interface NodeContext {
  readonly isBounded: boolean
  readonly canYield: boolean
}

/** How long elements of an array are decoded before yielding to other requests. They can have a few bytes or many. */
const sliceMillis = 5

/** A node that decodes with its own parser. Unions select members by the surrogate `ast`. */
const withParser = (ast: SchemaAST.AST, makeParser: () => Parser) =>
  new SchemaAST.Declaration([], makeParser, () => ParseResult.succeed, { [SchemaAST.SurrogateAnnotationId]: ast })

const schemaOf = (ast: SchemaAST.AST) => Schema.make<unknown>(ast)

/** Runs `check` on the input before any part of it is decoded. */
const withPrecheck = (
  ast: SchemaAST.AST,
  check: (input: unknown, options: SchemaAST.ParseOptions) => Issue | undefined
) =>
  withParser(ast, () => {
    const parse = ParseResult.decodeUnknown(schemaOf(ast))
    return (input, options) => {
      const issue = check(input, options)
      return issue === undefined ? parse(input, options) : ParseResult.fail(issue)
    }
  })

const sizeByKeyword = {
  maxItems: (input: unknown) => (Array.isArray(input) ? input.length : 0),
  maxProperties: (input: unknown) => (Predicate.isRecord(input) ? Object.keys(input).length : 0)
}

/** A predicate for inputs beyond the refinement's maximum, if it sets one. */
const excessPredicate = (ast: SchemaAST.Refinement) => {
  const jsonSchema: object = Option.getOrElse(SchemaAST.getJSONSchemaAnnotation(ast), () => ({}))
  for (const [name, sizeOf] of Object.entries(sizeByKeyword)) {
    const max: unknown = Reflect.get(jsonSchema, name)
    if (typeof max === "number") return (input: unknown) => sizeOf(input) > max
  }
  return undefined
}

const boundRefinement = (ast: SchemaAST.Refinement, context: NodeContext) => {
  const exceeds = excessPredicate(ast)
  const from = bound(ast.from, { ...context, isBounded: context.isBounded || exceeds !== undefined })
  const bounded = new SchemaAST.Refinement(from, ast.filter, ast.annotations)
  if (exceeds === undefined) return bounded
  return withPrecheck(bounded, (input) =>
    exceeds(input)
      ? new ParseResult.Refinement(bounded, input, "Predicate", new ParseResult.Type(bounded, input))
      : undefined
  )
}

/** Decodes elements in order, yields regularly, and stops once the response holds as many errors as it can. */
const boundArray = (ast: SchemaAST.TupleType, element: SchemaAST.AST, { canYield }: NodeContext) =>
  withParser(ast, () => {
    const parse = ParseResult.decodeUnknownEither(schemaOf(bound(element, elementContext)))
    return (input, options) => {
      if (!Array.isArray(input)) return ParseResult.fail(new ParseResult.Type(ast, input))
      const values: Array<unknown> = []
      const issues: Array<Issue> = []
      let errorCount = 0
      const decodeFrom = (start: number): Result => {
        const startedAt = performance.now()
        for (let index = start; index < input.length && errorCount < maxDetails; index++) {
          if (canYield && performance.now() - startedAt > sliceMillis)
            return Effect.flatMap(yieldToEventLoop, () => decodeFrom(index))
          const decoded = parse(input[index], options)
          if (Either.isRight(decoded)) values.push(decoded.right)
          else {
            issues.push(new ParseResult.Pointer(index, input, decoded.left))
            errorCount += toValidationDetails(decoded.left, "").length
          }
        }
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

/** Keeps a `__proto__` key: Effect assigns keys one by one, which would set the prototype instead. */
const boundRecord = (ast: SchemaAST.TypeLiteral, value: SchemaAST.AST) =>
  withParser(ast, () => {
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

/** For too many unknown keys, reports the first of them without decoding the known ones. */
const boundObject = (ast: SchemaAST.TypeLiteral, context: NodeContext) => {
  const properties = ast.propertySignatures.map(
    ({ annotations, isOptional, isReadonly, name, type }) =>
      new SchemaAST.PropertySignature(
        name,
        bound(type, { ...context, isBounded: false }),
        isOptional,
        isReadonly,
        annotations
      )
  )
  const bounded = new SchemaAST.TypeLiteral(properties, ast.indexSignatures, ast.annotations)
  const [index] = ast.indexSignatures
  if (index !== undefined) return boundRecord(bounded, index.type)
  const isNodeStrict = isStrict(ast)
  const known = new Set(properties.map(({ name }) => name))
  return withPrecheck(bounded, (input, { onExcessProperty }) => {
    if (!Predicate.isRecord(input) || !(isNodeStrict || onExcessProperty === "error")) return undefined
    const keys = Object.keys(input)
    if (keys.length <= known.size + maxDetails) return undefined
    const issues = keys
      .filter((key) => !known.has(key))
      .slice(0, maxDetails)
      .map((key) => new ParseResult.Pointer(key, input, new ParseResult.Unexpected(input[key])))
    return Arr.isNonEmptyReadonlyArray(issues) ? new ParseResult.Composite(bounded, input, issues) : undefined
  })
}

const bodyContext: NodeContext = { isBounded: false, canYield: true }
const elementContext: NodeContext = { isBounded: false, canYield: false }

const requireMaximum = (ast: SchemaAST.AST, { isBounded }: NodeContext, name: keyof typeof sizeByKeyword) => {
  if (!isBounded) throw new Error(`The API's schema sets no ${name} for ${ast} in a body`)
}

const bound = (ast: SchemaAST.AST, context: NodeContext): SchemaAST.AST => {
  switch (ast._tag) {
    case "Refinement":
      return boundRefinement(ast, context)
    case "Transformation":
      return new SchemaAST.Transformation(bound(ast.from, context), ast.to, ast.transformation, ast.annotations)
    case "Union":
      return SchemaAST.Union.make(
        ast.types.map((type) => bound(type, context)),
        ast.annotations
      )
    case "TypeLiteral":
      if (ast.indexSignatures.length > 0) requireMaximum(ast, context, "maxProperties")
      return boundObject(ast, context)
    case "TupleType": {
      requireMaximum(ast, context, "maxItems")
      const [rest] = ast.rest
      return rest === undefined ? ast : boundArray(ast, rest.type, context)
    }
    default:
      return ast
  }
}

/**
 * Decodes a body at a bounded cost: checks `maxItems` and `maxProperties` before it decodes elements, stops at the
 * number of errors that one response reports, and yields to other requests. Throws for a schema with an unbounded array
 * or record.
 */
export const makeBoundedDecoder = (ast: SchemaAST.AST) =>
  ParseResult.decodeUnknown(schemaOf(bound(ast, bodyContext)), { errors: "all" })
