import { type ParseResult, SchemaAST } from "effect"
import type { Detail } from "../../../domain/Errors.ts"
import { type Constraint, ConstraintId } from "../../../domain/Schemas.ts"

type Issue = ParseResult.ParseIssue

/** `billables[2].amountMinor`: properties by dots, items by brackets. */
const join = (path: string, next: ParseResult.Path): string =>
  [next].flat().reduce((whole: string, part: PropertyKey) => {
    if (typeof part === "number") return `${whole}[${part}]`
    return whole === "" ? String(part) : `${whole}.${String(part)}`
  }, path)

const kinds: Partial<Record<SchemaAST.AST["_tag"], string>> = {
  StringKeyword: "a string",
  NumberKeyword: "a number",
  BooleanKeyword: "true or false",
  TypeLiteral: "an object",
  TupleType: "an array"
}

const kindOf = (ast: SchemaAST.AST): string =>
  kinds[ast._tag] ??
  (SchemaAST.isRefinement(ast) || SchemaAST.isTransformation(ast) ? kindOf(ast.from) : "of another type")

/** The machine word and the sentence a schema was annotated with. */
const ruleOf = (issue: Issue, ast: SchemaAST.AST) => {
  // Only `rule`, `oneOf` and `checked` write it, the last as a function of the value.
  const word = ast.annotations[ConstraintId] as Constraint | ((value: unknown) => Constraint) | undefined
  const constraint = typeof word === "function" ? word(issue.actual) : word
  const message = SchemaAST.getMessageAnnotation(ast)
  if (constraint === undefined || message._tag === "None") return undefined
  const text = message.value(issue)
  return { constraint, message: typeof text === "object" && "message" in text ? String(text.message) : String(text) }
}

const isOfNull = (issue: Issue) => issue._tag === "Type" && SchemaAST.isLiteral(issue.ast) && issue.ast.literal === null

/** Of the ways a union could have been met, the first that is more than null tells what was expected. */
const ofUnion = (issues: ReadonlyArray<Issue>, field: string) => {
  const [likeliest] = issues.filter((issue) => !isOfNull(issue))
  return likeliest === undefined ? [] : collect(likeliest, field)
}

const typeFault = ({ ast, message }: ParseResult.Type, field: string): Detail =>
  message === undefined
    ? { field, constraint: "type", message: `must be ${kindOf(ast)}` }
    : { field, constraint: "format", message }

const ofComposite = (issue: ParseResult.Composite, field: string): ReadonlyArray<Detail> => {
  const issues = [issue.issues].flat() as ReadonlyArray<Issue> // one or many; flat() widens the element type
  return SchemaAST.isUnion(issue.ast) ? ofUnion(issues, field) : issues.flatMap((each) => collect(each, field))
}

const collect = (issue: Issue, field: string): ReadonlyArray<Detail> => {
  switch (issue._tag) {
    case "Missing":
      return [{ field, constraint: "required", message: "is required" }]
    case "Unexpected":
      return [{ field, constraint: "unknown", message: "is not a known property" }]
    case "Pointer":
      return collect(issue.issue, join(field, issue.path))
    case "Transformation":
      return collect(issue.issue, field)
    case "Forbidden":
      return [{ field, constraint: "type", message: "cannot be read" }]
  }
  const rule = issue._tag === "Refinement" && issue.kind === "From" ? undefined : ruleOf(issue, issue.ast)
  if (rule !== undefined) return [{ field, ...rule }]
  switch (issue._tag) {
    case "Composite":
      return ofComposite(issue, field)
    case "Refinement":
      return collect(issue.issue, field)
    case "Type":
      return [typeFault(issue, field)]
  }
}

/** Every fault of a part of the request, one for each field; `whole` names the part itself. */
export const detailsOf = (issue: Issue, whole: string): ReadonlyArray<Detail> => {
  const byField = new Map<string, Detail>()
  for (const detail of collect(issue, "")) {
    const field = detail.field === "" ? whole : detail.field
    if (!byField.has(field)) byField.set(field, { field, message: detail.message, constraint: detail.constraint })
  }
  return [...byField.values()]
}
