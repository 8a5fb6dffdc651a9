import type {
  OperationObject,
  ParameterObject,
  ReferenceObject,
  ResponseObject,
  SchemaObject
} from "openapi-typescript"
import { Api } from "../../src/http/api/Api.ts"
import { makeOpenApiDocument } from "../../src/http/api/OpenApi.ts"

type Schema = SchemaObject | ReferenceObject

/** The parts of the OpenAPI document that the client is made of. */
export interface Document {
  readonly openapi: string
  readonly info: { readonly title: string; readonly version: string }
  readonly tags?: ReadonlyArray<{ readonly name: string; readonly description?: string }>
  readonly paths: Readonly<Record<string, Readonly<Record<string, OperationObject>>>>
  readonly components: { readonly schemas: Readonly<Record<string, SchemaObject>> }
}

// The service's own type leaves the parts open that it does not change. They are those of OpenAPI.
export const document = makeOpenApiDocument(Api) as unknown as Document

const isReference = (value: object): value is ReferenceObject => "$ref" in value

/** What a reference refers to, or the value itself. */
export const resolve = <A extends object>(value: A | ReferenceObject): A => {
  if (!isReference(value)) return value
  const names = value.$ref.replace(/^#\//, "").split("/")
  const found = names.reduce<unknown>((parent, name) => (parent as Record<string, unknown>)[name], document)
  return resolve(found as A | ReferenceObject) // a reference leads to a value of the same kind
}

/** Schemas that the document has inside of operations. The client names them too. */
export const namedSchemas: Record<string, SchemaObject> = {}

const toTypeName = (text: string) =>
  text.replaceAll(/(?:^|[^A-Za-z0-9]+)([a-z0-9])/gi, (_, letter) => letter.toUpperCase())

/** The TypeScript type of a schema: that of the component it refers to, or a new one with this name. */
const typeOf = (schema: Schema, name: string): string => {
  if (isReference(schema)) return `Api.${toTypeName(schema.$ref.split("/").at(-1) ?? "")}`
  namedSchemas[name] = schema
  return `Api.${name}`
}

export interface Argument {
  readonly name: string
  readonly type: string
  readonly isOptional: boolean
}

export interface Result {
  readonly kind: "list" | "json" | "text" | "bytes" | "none"
  /** The type of `data`, or of the items of a list. */
  readonly type: string
}

export interface Operation {
  readonly group: string
  /** The tag of the group in the document. */
  readonly tag: string | undefined
  readonly name: string
  readonly comment: string
  readonly method: string
  readonly path: string
  readonly pathNames: ReadonlyArray<string>
  readonly query: Argument | undefined
  readonly body: (Argument & { readonly isJson: boolean }) | undefined
  /** Names of the headers that a caller has to give. */
  readonly requiredHeaders: ReadonlyArray<string>
  readonly acceptsIfMatch: boolean
  readonly result: Result
}

/** The first content of a body or response, with its media type. */
const contentOf = ({ content = {} }: Pick<ResponseObject, "content">) => {
  const [entry] = Object.entries(content)
  if (entry === undefined) return undefined
  const [mediaType, { schema }] = [entry[0], resolve(entry[1])]
  return schema === undefined ? undefined : { mediaType, schema }
}

const propertiesOf = (schema: Schema) => {
  const { properties = {} } = resolve(schema) as { readonly properties?: Readonly<Record<string, Schema>> }
  return properties
}

const resultOf = (operation: OperationObject, method: string, typeName: string): Result => {
  const success = Object.entries(operation.responses ?? {}).find(([status]) => status.startsWith("2"))?.[1]
  const content = success === undefined ? undefined : contentOf(resolve(success))
  if (content === undefined) return { kind: "none", type: "void" }
  if (content.mediaType !== "application/json") {
    const isText = content.mediaType.startsWith("text/")
    return isText ? { kind: "text", type: "string" } : { kind: "bytes", type: "Uint8Array" }
  }
  const data = propertiesOf(content.schema).data
  if (data === undefined) throw new Error(`${typeName} has a response without data`)
  const schema = resolve(data)
  if (!("type" in schema) || schema.type !== "array") return { kind: "json", type: typeOf(data, `${typeName}Data`) }
  const item = typeOf((schema as { readonly items: Schema }).items, `${typeName}Item`)
  return method === "GET" ? { kind: "list", type: item } : { kind: "json", type: `ReadonlyArray<${item}>` }
}

const queryOf = (parameters: ReadonlyArray<ParameterObject>, typeName: string): Argument | undefined => {
  const inQuery = parameters.filter((parameter) => parameter.in === "query")
  if (inQuery.length === 0) return undefined
  const required = inQuery.filter((parameter) => parameter.required).map(({ name }) => name)
  const properties = inQuery.map(({ description, name, schema = {} }) => {
    const known = resolve(schema)
    return [name, description === undefined ? known : { ...known, description }]
  })
  namedSchemas[`${typeName}Query`] = {
    type: "object",
    properties: Object.fromEntries(properties),
    required,
    additionalProperties: false
  }
  return { name: "query", type: `Api.${typeName}Query`, isOptional: required.length === 0 }
}

const bodyOf = ({ requestBody }: OperationObject, method: string, typeName: string): Operation["body"] => {
  const content = requestBody === undefined ? undefined : contentOf(resolve(requestBody))
  if (content === undefined) return undefined
  const isJson = content.mediaType === "application/json"
  if (!isJson) return { name: "body", type: "Bytes", isOptional: false, isJson }
  const { required = [] } = resolve(content.schema) as { readonly required?: ReadonlyArray<string> }
  const isOptional = method === "POST" && required.length === 0
  return { name: "body", type: typeOf(content.schema, `${typeName}Body`), isOptional, isJson }
}

/** Headers that the client sends by itself. */
const ownHeaders = new Set(["tenant-id", "idempotency-key", "if-match", "if-none-match"])

const readOperation = (path: string, method: string, operation: OperationObject): Operation => {
  const [group = "", name = ""] = operation.operationId?.split(".") ?? []
  if (name === "") throw new Error(`${method} ${path} needs an operationId such as invoices.create`)
  const typeName = toTypeName(`${group} ${name}`)
  const parameters = (operation.parameters ?? []).map((parameter) => resolve(parameter))
  const headers = parameters.filter((parameter) => parameter.in === "header")
  const takesKey = headers.some((header) => header.name.toLowerCase() === "idempotency-key")
  if (takesKey !== (method === "POST"))
    throw new Error(`${typeName}: the client sends a key with every POST, and no other`)
  const query = queryOf(parameters, typeName)
  const body = bodyOf(operation, method, typeName)
  if (query !== undefined && body !== undefined) throw new Error(`${typeName} has a query and a body`)
  return {
    group,
    tag: operation.tags?.[0],
    name,
    comment: [operation.summary, operation.description].filter((text) => text !== undefined).join("\n\n"),
    method,
    path,
    pathNames: [...path.matchAll(/\{(\w+)\}/g)].map(([, parameter = ""]) => parameter),
    query,
    body,
    requiredHeaders: headers
      .filter((header) => header.required && !ownHeaders.has(header.name.toLowerCase()))
      .map((header) => header.name),
    acceptsIfMatch: headers.some((header) => header.name === "If-Match"),
    result: resultOf(operation, method, typeName)
  }
}

/** Every operation of the document, in its order. */
export const operations: ReadonlyArray<Operation> = Object.entries(document.paths).flatMap(([path, methods]) =>
  Object.entries(methods).map(([method, operation]) => readOperation(path, method.toUpperCase(), operation))
)

const isError = (name: string, schema: Schema) => {
  const { error } = propertiesOf(schema)
  return error !== undefined && "enum" in error && error.enum?.[0] === name
}

/** The names of the errors: components whose `error` is their name. */
export const errorNames: ReadonlyArray<string> = Object.entries(document.components.schemas)
  .filter(([name, schema]) => isError(name, schema))
  .map(([name]) => name)
