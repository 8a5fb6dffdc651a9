import type { OpenApiDocument } from "../../src/http/api/OpenApi.ts"
import type { JsonSchema } from "./operations.ts"

/** Where values come from that a schema alone cannot tell. */
export interface Source {
  /** An identifier with this prefix, of something that exists. */
  readonly idOf: (prefix: string) => string
  /** Any text, a new one each time. */
  readonly text: () => string
  /** Whether references are made that could be left out as well. */
  readonly everyReference?: boolean
}

/** The prefix of the identifiers a schema takes, if it takes identifiers. */
export const prefixOf = ({ pattern = "" }: JsonSchema) => /^\^([a-z]+)_\[a-z0-9\]/.exec(pattern)?.[1]

const formats: Readonly<Record<string, (text: string) => string>> = {
  email: (text) => `${text}@example.test`,
  uri: (text) => `https://example.test/${text}`,
  "date-time": () => "2030-01-31T09:30:00.000Z"
}

const patterns: Readonly<Record<string, string>> = {
  "^[A-Z]{3}$": "EUR",
  "^[a-z][a-z0-9-]{0,62}$": "logo",
  "^[A-Za-z0-9_-]{43}$": "k".repeat(43)
}

/** Makes the smallest value a schema of the document allows, so that a test can call operations it knows nothing of. */
export const minimalBodies = (document: OpenApiDocument) => {
  const resolve = (schema: JsonSchema): JsonSchema => {
    const name = schema.$ref?.replace("#/components/schemas/", "")
    const found = name === undefined ? undefined : document.components.schemas[name]
    return found === undefined ? schema : resolve(found)
  }

  const isReference = (given: JsonSchema): boolean => {
    const schema = resolve(given)
    return prefixOf(schema) !== undefined || (schema.anyOf?.some(isReference) ?? false)
  }

  const textOf = ({ format = "", maxLength = 100, pattern }: JsonSchema, source: Source) => {
    const prefix = pattern === undefined ? undefined : prefixOf({ pattern })
    if (prefix !== undefined) return source.idOf(prefix)
    if (format in formats) return (formats[format]?.(source.text()) ?? "").slice(0, maxLength)
    const known = patterns[pattern ?? ""]
    if (known !== undefined) return known
    if (pattern !== undefined) throw new Error(`Teach test/support/minimalBodies.ts what matches ${pattern}`)
    return source.text().slice(0, maxLength)
  }

  const propertiesOf = ({ minProperties = 0, properties = {}, required = [] }: JsonSchema, source: Source) => {
    const names = Object.keys(properties)
    const references = names.filter((name) => isReference(properties[name] ?? {}))
    const chosen = new Set([...required, ...(source.everyReference ? references : [])])
    for (const name of names) if (chosen.size < minProperties) chosen.add(name)
    return [...chosen].map((name) => [name, valueOf(properties[name] ?? {}, source)] as const)
  }

  const valueOf = (given: JsonSchema, source: Source): unknown => {
    const schema = resolve(given)
    if (schema.const !== undefined) return schema.const
    if (schema.enum !== undefined) return schema.enum[0]
    const [alternative] = schema.anyOf?.filter(({ type }) => type !== "null") ?? []
    if (alternative !== undefined) return valueOf(alternative, source)
    switch (schema.type) {
      case "object":
        return Object.fromEntries(propertiesOf(schema, source))
      case "array":
        return Array.from({ length: schema.minItems ?? 0 }, () => valueOf(schema.items ?? {}, source))
      case "string":
        return textOf(schema, source)
      case "integer":
      case "number":
        return schema.minimum === undefined || schema.minimum < 0 ? 1 : schema.minimum
      case "boolean":
        return true
      default:
        throw new Error(`Teach test/support/minimalBodies.ts about ${JSON.stringify(schema)}`)
    }
  }
  return valueOf
}
