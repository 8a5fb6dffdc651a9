import type { OpenApiDocument } from "../../../src/http/api/OpenApi.ts"

/** The part of JSON Schema that the OpenAPI document uses. */
export interface JsonSchema {
  readonly $ref?: string
  readonly type?: string
  readonly pattern?: string
  readonly format?: string
  readonly enum?: ReadonlyArray<unknown>
  readonly const?: unknown
  readonly anyOf?: ReadonlyArray<JsonSchema>
  readonly properties?: Readonly<Record<string, JsonSchema>>
  readonly required?: ReadonlyArray<string>
  readonly items?: JsonSchema
  readonly minItems?: number
  readonly minProperties?: number
  readonly minimum?: number
  readonly maximum?: number
  readonly maxLength?: number
}

interface Parameter {
  readonly name: string
  readonly in: "path" | "query" | "header"
  readonly schema: JsonSchema
}

/** An operation of the OpenAPI document. */
export interface Operation {
  readonly name: string
  readonly method: string
  readonly path: string
  readonly description: string
  /** The source of the tenant. */
  readonly tenant: "header" | "path" | "none"
  readonly needsToken: boolean
  readonly pathParameters: ReadonlyArray<Parameter>
  readonly body: JsonSchema | undefined
  readonly creates: boolean
}

/** The part of an operation that the type of the document does not describe. */
interface Described {
  readonly description: string
  readonly parameters: ReadonlyArray<Parameter>
  readonly security: ReadonlyArray<object>
  readonly responses: Readonly<Record<string, unknown>>
  readonly requestBody?: { readonly content: Readonly<Record<string, { readonly schema: JsonSchema }>> }
}

const tenantOf = (path: string, { parameters }: Described) => {
  if (path.includes("{tenantId}")) return "path"
  return parameters.some(({ name }) => name === "tenant-id") ? "header" : "none"
}

export const operationsOf = (document: OpenApiDocument): ReadonlyArray<Operation> =>
  Object.entries(document.paths).flatMap(([path, operations]) =>
    Object.entries(operations as Readonly<Record<string, unknown>>).map(([method, operation]) => {
      const described = operation as Described
      return {
        name: `${method.toUpperCase()} ${path}`,
        method: method.toUpperCase(),
        path,
        description: described.description,
        tenant: tenantOf(path, described),
        needsToken: described.security.length > 0,
        pathParameters: described.parameters.filter((parameter) => parameter.in === "path"),
        body: described.requestBody?.content["application/json"]?.schema,
        creates: "201" in described.responses
      }
    })
  )

/** The path of an operation with its parameters filled in. */
export const addressOf = ({ path }: Operation, fill: (name: string) => string) =>
  path.replace(/\{(\w+)\}/g, (_, name: string) => fill(name))
