import type { Method } from "../api.ts"

/** The part of JSON Schema that the OpenAPI document uses in requests. */
export interface JsonSchema {
  readonly $ref?: string
  readonly type?: string | ReadonlyArray<string>
  readonly pattern?: string
  readonly format?: string
  readonly enum?: ReadonlyArray<unknown>
  readonly anyOf?: ReadonlyArray<JsonSchema>
  readonly allOf?: ReadonlyArray<JsonSchema>
  readonly properties?: Readonly<Record<string, JsonSchema>>
  readonly additionalProperties?: boolean | JsonSchema
  readonly propertyNames?: JsonSchema
  readonly maxProperties?: number
  readonly items?: JsonSchema
  readonly maxItems?: number
  readonly maxLength?: number
  readonly maximum?: number
  readonly examples?: ReadonlyArray<unknown>
}

export interface Parameter {
  readonly name: string
  readonly in: "path" | "query" | "header"
  readonly required?: boolean
  readonly schema: JsonSchema
}

interface MediaType {
  readonly schema: JsonSchema
  readonly example?: unknown
}

interface DescribedOperation {
  readonly parameters: ReadonlyArray<Parameter>
  readonly requestBody?: { readonly content: Readonly<Record<string, MediaType>> }
  readonly responses: Readonly<Record<string, { readonly description?: string }>>
}

/** The part of the OpenAPI document that requests are made of. */
export interface OpenApiDocument {
  readonly paths: Readonly<Record<string, object>>
  readonly components: { readonly schemas: Readonly<Record<string, object>> }
}

export interface RequestBody extends MediaType {
  readonly contentType: string
}

export interface Operation {
  readonly name: string
  readonly method: Method
  readonly path: string
  readonly parameters: ReadonlyArray<Parameter>
  readonly body: RequestBody | undefined
  readonly hasCsv: boolean
}

const readBody = ({ requestBody }: DescribedOperation): RequestBody | undefined => {
  const [content] = Object.entries(requestBody?.content ?? {})
  return content && { contentType: content[0], ...content[1] }
}

/** CSV is no content type of the document: the description of a success mentions it. */
const hasCsv = ({ responses }: DescribedOperation) => responses["200"]?.description?.includes("text/csv") === true

const basePath = "/api/v1"

/** All operations, with paths below the base path. */
export const listOperations = ({ paths }: OpenApiDocument): ReadonlyArray<Operation> =>
  Object.entries(paths).flatMap(([fullPath, operations]) =>
    Object.entries(operations as Readonly<Record<string, DescribedOperation>>).map(([lowerMethod, described]) => {
      const method = lowerMethod.toUpperCase() as Method // the methods of the document
      const path = fullPath.slice(basePath.length)
      return {
        name: `${method} ${path}`,
        method,
        path,
        parameters: described.parameters,
        body: readBody(described),
        hasCsv: hasCsv(described)
      }
    })
  )

/** Follows references and alternatives to the first schema that is not null. */
export const makeResolve = ({ components }: OpenApiDocument) => {
  const resolve = (schema: JsonSchema): JsonSchema => {
    const [alternative] = schema.anyOf?.filter(({ type }) => type !== "null") ?? schema.allOf ?? []
    if (alternative !== undefined) return resolve(alternative)
    const name = schema.$ref?.replace("#/components/schemas/", "")
    const referenced = name === undefined ? undefined : components.schemas[name]
    return referenced === undefined ? schema : resolve(referenced)
  }
  return resolve
}

/** The prefix of the identifiers that a schema accepts, or undefined if it accepts none. */
export const getIdPrefix = ({ pattern = "" }: JsonSchema) => /^\^([a-z]+)_\[a-z0-9\]/.exec(pattern)?.[1]
