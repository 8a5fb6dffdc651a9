/** The part of JSON Schema that examples are composed from. */
interface ExampleSchema {
  readonly $ref?: string
  readonly type?: string | ReadonlyArray<string>
  readonly examples?: ReadonlyArray<unknown>
  readonly enum?: ReadonlyArray<unknown>
  readonly anyOf?: ReadonlyArray<ExampleSchema>
  readonly items?: ExampleSchema
  readonly properties?: Readonly<Record<string, ExampleSchema>>
  readonly required?: ReadonlyArray<string>
}

export type ExampleOf = (schema: object) => unknown

/**
 * Composes the example of a schema from the examples of its fields. A schema with an example of its own keeps it. An
 * optional field without an example is left out.
 */
export const makeExampleOf = (components: Readonly<Record<string, object>>): ExampleOf => {
  const objectExample = ({ properties = {}, required = [] }: ExampleSchema) =>
    Object.fromEntries(
      Object.entries(properties)
        .map(([name, property]) => [name, property, exampleOf(property)] as const)
        .filter(
          ([name, property, example]) => example !== undefined && (required.includes(name) || hasExample(property))
        )
        .map(([name, , example]) => [name, example])
    )

  /** Whether a field has an example, so that its object shows it even if it is optional. */
  const hasExample = ({ $ref, anyOf = [], examples, items, type }: ExampleSchema): boolean =>
    examples !== undefined || $ref !== undefined || type === "object" || items !== undefined || anyOf.some(hasExample)

  const exampleOf = (schema: ExampleSchema): unknown => {
    const { $ref, anyOf, examples, items } = schema
    if ($ref !== undefined) return exampleOf(components[$ref.split("/").at(-1) ?? ""] ?? {})
    if (examples !== undefined) return examples[0]
    if (schema.enum !== undefined) return schema.enum[0]
    if (anyOf?.[0] !== undefined) return exampleOf(anyOf[0])
    if (items !== undefined) return [exampleOf(items)]
    return schema.type === "object" ? objectExample(schema) : undefined
  }
  return exampleOf
}
