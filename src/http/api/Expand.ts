import { ParseResult, Schema } from "effect"
import { butIs } from "../../domain/RejectedValue.ts"
import { rule } from "../../domain/Schemas.ts"

/** A query parameter with a comma-separated list of relations to expand. */
export const expandParameter = <const Names extends ReadonlyArray<string>>(...names: Names) => {
  const isRelation = (name: string): name is Names[number] => names.includes(name)
  const message = butIs(`must be a comma-separated list of ${names.join(", ")}`)
  return Schema.transformOrFail(Schema.String, Schema.Array(Schema.Literal(...names)), {
    strict: true,
    decode: (text, _, ast) => {
      const relations = text.split(",").map((name) => name.trim())
      return relations.every(isRelation)
        ? ParseResult.succeed(relations)
        : ParseResult.fail(new ParseResult.Type(ast, text, message(text)))
    },
    encode: (relations) => ParseResult.succeed(relations.join(","))
  }).annotations(
    rule("enum", message, {
      type: "string",
      examples: [names.join(",")],
      description: `Relations to include in the response, separated by commas: ${names.join(", ")}.`
    })
  )
}
