import { type ParseResult, SchemaAST } from "effect"
import type { Constraint } from "../../../domain/Constraints.ts"
import type { ErrorDetail } from "../../../domain/Errors.ts"
import { jsonTypeOf } from "../../../domain/RejectedValue.ts"
import { ConstraintId } from "../../../domain/Schemas.ts"

type Issue = ParseResult.ParseIssue

/** Appends to a field path such as `billables[2].amountMinor`. */
const joinPath = (path: string, next: ParseResult.Path): string =>
  [next].flat().reduce((joined: string, part: PropertyKey) => {
    if (typeof part === "number") return `${joined}[${part}]`
    return joined === "" ? String(part) : `${joined}.${String(part)}`
  }, path)

const typeNames: Partial<Record<SchemaAST.AST["_tag"], string>> = {
  StringKeyword: "a string",
  NumberKeyword: "a number",
  BooleanKeyword: "true or false",
  TypeLiteral: "an object",
  TupleType: "an array"
}

const typeNameOf = (ast: SchemaAST.AST): string =>
  typeNames[ast._tag] ??
  (SchemaAST.isRefinement(ast) || SchemaAST.isTransformation(ast) ? typeNameOf(ast.from) : "of another type")

/** The constraint and the message in the schema's annotations. */
const ruleOf = (issue: Issue, ast: SchemaAST.AST) => {
  // `rule`, `oneOf` and `checked` write this annotation; `checked` writes a function of the value.
  const annotation = ast.annotations[ConstraintId] as Constraint | ((value: unknown) => Constraint) | undefined
  const constraint = typeof annotation === "function" ? annotation(issue.actual) : annotation
  const message = SchemaAST.getMessageAnnotation(ast)
  if (constraint === undefined || message._tag === "None") return undefined
  const text = message.value(issue)
  return { constraint, message: typeof text === "object" && "message" in text ? String(text.message) : String(text) }
}

const expectsNull = (issue: Issue) =>
  issue._tag === "Type" && SchemaAST.isLiteral(issue.ast) && issue.ast.literal === null

/** Reports the first member of a union other than null. */
const collectUnion = (issues: ReadonlyArray<Issue>, field: string) => {
  const [first] = issues.filter((issue) => !expectsNull(issue))
  return first === undefined ? [] : collect(first, field)
}

const typeDetail = ({ actual, ast, message }: ParseResult.Type, field: string): ErrorDetail =>
  message === undefined
    ? { field, constraint: "type", message: `must be ${typeNameOf(ast)}, but is ${jsonTypeOf(actual)}` }
    : { field, constraint: "format", message }

const collectComposite = (issue: ParseResult.Composite, field: string): ReadonlyArray<ErrorDetail> => {
  const issues = [issue.issues].flat() as ReadonlyArray<Issue> // one or many; flat() widens the element type
  return SchemaAST.isUnion(issue.ast) ? collectUnion(issues, field) : issues.flatMap((item) => collect(item, field))
}

const collect = (issue: Issue, field: string): ReadonlyArray<ErrorDetail> => {
  switch (issue._tag) {
    case "Missing":
      return [{ field, constraint: "required", message: "is required" }]
    case "Unexpected":
      return [{ field, constraint: "unknown", message: "is not a known property" }]
    case "Pointer":
      return collect(issue.issue, joinPath(field, issue.path))
    case "Transformation":
      return collect(issue.issue, field)
    case "Forbidden":
      return [{ field, constraint: "type", message: "cannot be read" }]
  }
  const rule = issue._tag === "Refinement" && issue.kind === "From" ? undefined : ruleOf(issue, issue.ast)
  if (rule !== undefined) return [{ field, ...rule }]
  switch (issue._tag) {
    case "Composite":
      return collectComposite(issue, field)
    case "Refinement":
      return collect(issue.issue, field)
    case "Type":
      return [typeDetail(issue, field)]
  }
}

/** The errors of one part of the request, one per field. `partName` is the field of an error in the part itself. */
export const toValidationDetails = (issue: Issue, partName: string): ReadonlyArray<ErrorDetail> => {
  const byField = new Map<string, ErrorDetail>()
  for (const detail of collect(issue, "")) {
    const field = detail.field === "" ? partName : detail.field
    if (!byField.has(field)) byField.set(field, { field, message: detail.message, constraint: detail.constraint })
  }
  return [...byField.values()]
}
