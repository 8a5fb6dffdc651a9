import { HttpApi, type HttpApiEndpoint, type HttpApiGroup, HttpMethod, OpenApi } from "@effect/platform"
import { Context, Option } from "effect"
import { type AccessRule, EndpointAccess, StreamedUpload, UnsafeGet } from "./Access.ts"
import { CsvForm } from "./CsvRows.ts"
import { documentedErrors, documentedErrorsOf, type OperationTraits } from "./DocumentedErrors.ts"
import { EndpointText, type OperationText, TagGroup } from "./Operation.ts"
import { type ExampleOf, makeExampleOf } from "./openApi/Examples.ts"
import { errorHeaders, hasEtag, requestHeadersOf, successHeaders } from "./openApi/Headers.ts"
import { describeOperation, describeSuccess } from "./openApi/Texts.ts"
import { eventExample, makeOpenApiWebhooks } from "./openApi/Webhooks.ts"

/** The parts of an OpenAPI document that this file changes. */
interface MediaType {
  readonly schema: object
  readonly example?: unknown
}
type Content = Readonly<Record<string, MediaType>>
interface Response {
  readonly description: string
  readonly content?: Content
  readonly headers?: unknown
}
interface Reference {
  readonly $ref: string
}
interface Operation {
  readonly description?: string
  readonly parameters: ReadonlyArray<object>
  readonly requestBody?: { readonly content: Content }
  readonly responses: Readonly<Record<string, Response | Reference>>
  readonly security: ReadonlyArray<object>
}
/** An operation of the generator, whose responses are all in place. */
interface GeneratedOperation extends Operation {
  readonly responses: Readonly<Record<string, Response>>
}
export interface OpenApiDocument {
  readonly info: object
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>
  readonly webhooks: object
  /** The headings of the tags, for viewers that show them. */
  readonly "x-tagGroups": ReadonlyArray<{ readonly name: string; readonly tags: ReadonlyArray<string> }>
  readonly components: {
    readonly schemas: Readonly<Record<string, object>>
    readonly responses: Readonly<Record<string, Response>>
    readonly securitySchemes: object
  }
}

interface GeneratedDocument extends OpenApiDocument {
  readonly paths: Readonly<Record<string, Readonly<Record<string, GeneratedOperation>>>>
}

/** References to the responses of `components`, which are the same for every operation. */
const errorResponses = (traits: OperationTraits) =>
  Object.fromEntries(
    documentedErrorsOf(traits).map(({ status, tag }) => [String(status), { $ref: `#/components/responses/${tag}` }])
  )

const makeErrorComponents = (exampleOf: ExampleOf) =>
  Object.fromEntries(
    documentedErrors.map(({ description, schema, tag }) => [
      tag,
      {
        description,
        headers: errorHeaders(tag),
        content: {
          "application/json": { schema: { $ref: `#/components/schemas/${tag}` }, example: exampleOf(schema) }
        }
      }
    ])
  )

const notModifiedResponse = (traits: OperationTraits) =>
  traits.method === "GET" && hasEtag(traits)
    ? {
        304: {
          description: "The resource still has the version that you know.",
          headers: successHeaders(traits, "304")
        }
      }
    : {}

const securityOf = ({ access }: OperationTraits) => {
  if (access.for === "anyone") return []
  return access.for === "optionalAuth" ? [{ bearer: [] }, {}] : [{ bearer: [] }]
}

/** Files have no example: their bytes cannot be in the document. */
const isFile = ({ schema }: MediaType) => "format" in schema && schema.format === "binary"

const withExample = (content: Content, makeExample: (schema: object) => unknown): Content =>
  Object.fromEntries(
    Object.entries(content).map(([type, media]) => [
      type,
      isFile(media) ? media : { ...media, example: makeExample(media.schema) }
    ])
  )

/** The example of a JSON response: of an event type if the operation names one, else of its resource. */
const dataExample = (
  { example: differences = {}, exampleEvent }: OperationText,
  data: unknown,
  exampleOf: ExampleOf
) => {
  const event = exampleEvent === undefined ? undefined : eventExample(exampleEvent, exampleOf)
  if (Array.isArray(data)) return event === undefined ? data : [event]
  return event ?? { ...Object(data), ...differences }
}

const responseExample = (text: OperationText, exampleOf: ExampleOf) => (schema: object) => {
  const example = exampleOf(schema)
  return typeof example === "object" ? { data: dataExample(text, Object(example).data, exampleOf) } : example
}

const withRequestExample = (operation: Operation, exampleOf: ExampleOf) =>
  operation.requestBody === undefined
    ? {}
    : { requestBody: { ...operation.requestBody, content: withExample(operation.requestBody.content, exampleOf) } }

const completeOperation = (
  operation: GeneratedOperation,
  traits: OperationTraits,
  text: OperationText,
  exampleOf: ExampleOf
): Operation => {
  const successes = Object.entries(operation.responses)
    .filter(([status]) => status.startsWith("2"))
    .map(([status, { content }]) => [
      status,
      {
        description: describeSuccess(traits, status),
        ...(content === undefined ? {} : { content: withExample(content, responseExample(text, exampleOf)) }),
        headers: successHeaders(traits, status)
      }
    ])
  return {
    ...operation,
    description: describeOperation(text, traits),
    ...withRequestExample(operation, exampleOf),
    parameters: [...operation.parameters, ...requestHeadersOf(traits)],
    security: securityOf(traits),
    responses: { ...Object.fromEntries(successes), ...notModifiedResponse(traits), ...errorResponses(traits) }
  }
}

/** The schema of `data` in a JSON response. */
const dataSchemaOf = ({ content }: Response) =>
  (content?.["application/json"]?.schema as { readonly properties?: { readonly data?: object } } | undefined)
    ?.properties?.data // the generator's types leave this part open

const returnsList = ({ responses }: GeneratedOperation) =>
  Object.values(responses).some((response) => {
    const data = dataSchemaOf(response)
    return data !== undefined && "type" in data && data.type === "array"
  })

const updateMethods = new Set<string>(["PUT", "PATCH", "DELETE"])

/** A POST that returns 200 acts on an existing resource; one that creates returns 201. */
const isAction = (method: string, { responses }: Operation) => method === "POST" && "200" in responses

type Endpoint = HttpApiEndpoint.HttpApiEndpoint<string, HttpMethod.HttpMethod>

const traitsOf = (endpoint: Endpoint, access: AccessRule, operation: GeneratedOperation): OperationTraits => ({
  method: endpoint.method,
  access,
  hasPayload: HttpMethod.hasBody(endpoint.method) && Option.isSome(endpoint.payloadSchema),
  hasQuery: Option.isSome(endpoint.urlParamsSchema),
  hasPathParameter: Option.isSome(endpoint.pathSchema),
  returnsList: returnsList(operation),
  isPaged: operation.parameters.some((parameter) => "name" in parameter && parameter.name === "cursor"),
  hasCsvForm: Context.get(endpoint.annotations, CsvForm) !== undefined,
  isUpload: Context.get(endpoint.annotations, StreamedUpload),
  isUnsafeGet: Context.get(endpoint.annotations, UnsafeGet),
  acceptsIfMatch:
    updateMethods.has(endpoint.method) || (access.for !== "tracker" && isAction(endpoint.method, operation))
})

/** Schemas of Effect's own decode error, which the server never sends. */
const frameworkSchemas = new Set(["HttpApiDecodeError", "Issue", "PropertyKey"])

const completeSchemas = (schemas: OpenApiDocument["components"]["schemas"]) => ({
  ...Object.fromEntries(Object.entries(schemas).filter(([name]) => !frameworkSchemas.has(name))),
  ...Object.fromEntries(documentedErrors.map(({ schema, tag }) => [tag, schema]))
})

const contact = { name: "The operator of this service" }

/** The owner grants no licence: `UNLICENSED` in package.json. */
const license = { name: "UNLICENSED", identifier: "LicenseRef-UNLICENSED" }

const securitySchemes = {
  bearer: {
    type: "http",
    scheme: "bearer",
    bearerFormat: "JWT",
    description: "A JWT of the issuer that the operator configured. In development, `npm run token` prints one."
  }
}

/** The headings with their tags, in the order of the groups. */
const tagGroupsOf = (groups: ReadonlyArray<HttpApiGroup.HttpApiGroup.AnyWithProps>) => {
  const tagsByHeading = new Map<string, Array<string>>()
  for (const { annotations, identifier } of groups) {
    const heading = Option.getOrElse(Context.getOption(annotations, TagGroup), () => identifier)
    const name = Option.getOrElse(Context.getOption(annotations, OpenApi.Title), () => identifier)
    tagsByHeading.set(heading, [...(tagsByHeading.get(heading) ?? []), name])
  }
  return [...tagsByHeading].map(([name, tags]) => ({ name, tags }))
}

/** The OpenAPI document: Effect's, completed with texts, examples, and what the server adds to every operation. */
export const makeOpenApiDocument = <Id extends string, G extends HttpApiGroup.HttpApiGroup.Any, E, R>(
  api: HttpApi.HttpApi<Id, G, E, R>
): OpenApiDocument => {
  // The generator's types have no response headers and no references like ours.
  const generated = OpenApi.fromApi(api) as unknown as GeneratedDocument
  const schemas = completeSchemas(generated.components.schemas)
  const exampleOf = makeExampleOf(schemas)
  const paths: Record<string, Record<string, Operation>> = {}
  const groups: Array<HttpApiGroup.HttpApiGroup.AnyWithProps> = []
  HttpApi.reflect(api, {
    onGroup: ({ group }) => void groups.push(group),
    onEndpoint: ({ endpoint }) => {
      const path = endpoint.path.replace(/:(\w+)/g, "{$1}")
      const method = endpoint.method.toLowerCase()
      const operation = generated.paths[path]?.[method]
      const access = Context.getOption(endpoint.annotations, EndpointAccess)
      const text = Context.getOption(endpoint.annotations, EndpointText)
      if (operation === undefined || Option.isNone(access) || Option.isNone(text)) return
      const traits = traitsOf(endpoint, access.value, operation)
      const completed = completeOperation(operation, traits, text.value, exampleOf)
      paths[path] = { ...paths[path], [method]: completed }
    }
  })
  return {
    ...generated,
    info: { ...generated.info, contact, license },
    paths,
    webhooks: makeOpenApiWebhooks(exampleOf),
    "x-tagGroups": tagGroupsOf(groups),
    components: { schemas, responses: makeErrorComponents(exampleOf), securitySchemes }
  }
}
