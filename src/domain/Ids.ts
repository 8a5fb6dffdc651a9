import { Schema } from "effect"
import { butIs } from "./RejectedValue.ts"
import { rule } from "./Schemas.ts"

const PrefixId: unique symbol = Symbol.for("domain/Prefix")

/** An identifier is a prefix for its kind and an opaque suffix of lowercase letters and digits. */
const patternOf = (prefix: string) => `^${prefix}_[a-z0-9]{1,64}$`

const withArticle = (kind: string) => `${/^[aeiou]/.test(kind) ? "an" : "a"} ${kind}`

/** The suffix of all identifiers in examples, so that references in one example fit another. */
const exampleSuffix = "01k9zq3v5t8w2x4y6a7b9c1d3e"

export const exampleId = (prefix: string) => `${prefix}_${exampleSuffix}`

export const id = <const Prefix extends string>(prefix: Prefix, kind: string) =>
  Schema.String.pipe(
    Schema.pattern(new RegExp(patternOf(prefix)), {
      ...rule("format", butIs(`must be ${withArticle(kind)} identifier (${prefix}_…)`), { pattern: patternOf(prefix) }),
      description: `Identifier of the ${kind}.`,
      examples: [exampleId(prefix)]
    }),
    Schema.brand(prefix)
  ).annotations({ [PrefixId]: prefix })

/** The prefix of a schema that `id` made. */
export const prefixOf = (schema: Schema.Schema.All) => String(schema.ast.annotations[PrefixId])

/** Whether `id` made the schema. Its values need no escaping in JSON: letters, digits and an underscore. */
export const isIdentifier = (schema: Schema.Schema.All) => PrefixId in schema.ast.annotations
