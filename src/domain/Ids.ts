import { Schema } from "effect"
import { rule } from "./Schemas.ts"

const PrefixId: unique symbol = Symbol.for("domain/Prefix")

/** A prefix that tells the kind, and a suffix readers are told nothing of but that it is lowercase alphanumeric. */
const patternOf = (prefix: string) => `^${prefix}_[a-z0-9]{1,64}$`

const named = (kind: string) => `${/^[aeiou]/.test(kind) ? "an" : "a"} ${kind}`

export const id = <const Prefix extends string>(prefix: Prefix, kind: string) =>
  Schema.String.pipe(
    Schema.pattern(new RegExp(patternOf(prefix)), {
      ...rule("format", `must be ${named(kind)} identifier (${prefix}_…)`, { pattern: patternOf(prefix) }),
      description: `Identifies the ${kind}`
    }),
    Schema.brand(prefix)
  ).annotations({ [PrefixId]: prefix })

/** The prefix a kind of identifier was declared with. */
export const prefixOf = (schema: Schema.Schema.All) => String(schema.ast.annotations[PrefixId])

/** Whether values of a schema are identifiers: letters, digits and an underscore. */
export const isIdentifier = (schema: Schema.Schema.All) => PrefixId in schema.ast.annotations
