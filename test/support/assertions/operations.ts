import type { OpenApiDocument } from "../../../src/http/api/OpenApi.ts"

/** The part of JSON Schema that the contract's bodies and parameters are described with. */
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

/** An operation of the OpenAPI document, as the tests that walk over all of them see it. */
export interface Operation {
  readonly name: string
  readonly method: string
  readonly path: string
  /** Where it takes its tenant from; most operations take it from the header. */
  readonly tenant: "header" | "path" | "none"
  readonly needsToken: boolean
  readonly pathParameters: ReadonlyArray<Parameter>
  readonly body: JsonSchema | undefined
  readonly creates: boolean
}

/** What the document says of an operation, where its own type is too wide to read. */
interface Described {
  readonly parameters: ReadonlyArray<Parameter>
  readonly security: ReadonlyArray<object>
  readonly responses: Readonly<Record<string, unknown>>
  readonly requestBody?: { readonly content: Readonly<Record<string, { readonly schema: JsonSchema }>> }
}

const tenantOf = (path: string, { parameters }: Described) => {
  if (path.includes("{tenantId}")) return "path"
  return parameters.some(({ name }) => name === "tenant-id") ? "header" : "none"
}

/** Every operation there is, so that a test over all of them covers those to come. */
export const operationsOf = (document: OpenApiDocument): ReadonlyArray<Operation> =>
  Object.entries(document.paths).flatMap(([path, operations]) =>
    Object.entries(operations as Readonly<Record<string, unknown>>).map(([method, operation]) => {
      const described = operation as Described
      return {
        name: `${method.toUpperCase()} ${path}`,
        method: method.toUpperCase(),
        path,
        tenant: tenantOf(path, described),
        needsToken: described.security.length > 0,
        pathParameters: described.parameters.filter((parameter) => parameter.in === "path"),
        body: described.requestBody?.content["application/json"]?.schema,
        creates: "201" in described.responses
      }
    })
  )

/** The address of an operation with each path parameter filled in. */
export const addressOf = ({ path }: Operation, fill: (name: string) => string) =>
  path.replace(/\{(\w+)\}/g, (_, name: string) => fill(name))
