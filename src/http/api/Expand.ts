import { ParseResult, Schema } from "effect"
import { rule } from "../../domain/Schemas.ts"

/** The relations a caller wants in full, named in one query parameter with commas between them. */
export const expansion = <const Names extends ReadonlyArray<string>>(...names: Names) => {
  const known = (name: string): name is Names[number] => names.includes(name)
  const wrong = `must be a comma-separated list of ${names.join(", ")}`
  return Schema.transformOrFail(Schema.String, Schema.Array(Schema.Literal(...names)), {
    strict: true,
    decode: (text, _, ast) => {
      const asked = text.split(",").map((name) => name.trim())
      return asked.every(known) ? ParseResult.succeed(asked) : ParseResult.fail(new ParseResult.Type(ast, text, wrong))
    },
    encode: (asked) => ParseResult.succeed(asked.join(","))
  }).annotations(
    rule("enum", wrong, {
      type: "string",
      examples: [names.join(",")],
      description: `Relations to show in full: ${names.join(", ")}, with commas between them`
    })
  )
}
