import { HttpApi, type HttpApiGroup, HttpMethod, OpenApi } from "@effect/platform"
import { Context, JSONSchema, Option } from "effect"
import { eventSchemaName } from "../../domain/events/Event.ts"
import { eventTypes } from "../../domain/events/EventCatalogue.ts"
import { TenantId } from "../../domain/tenancy/Tenant.ts"
import { EndpointAccess, UnsafeGet } from "./Access.ts"
import { documentedErrors, documentedErrorsOf, type OperationTraits } from "./DocumentedErrors.ts"
import { idempotencyKeyPattern } from "./Idempotency.ts"

const summaryOf = (type: string) => {
  const [resource, action] = type.split(".")
  return `Tells of ${/^[aeiou]/.test(type) ? "an" : "a"} ${resource?.replaceAll("_", " ")}: ${action}`
}

/** The `webhooks` of the OpenAPI document: the request that an integration receives, for each event type. */
export const openApiWebhooks = Object.fromEntries(
  eventTypes.map(({ type }) => [
    type,
    {
      post: {
        operationId: `on.${type}`,
        summary: summaryOf(type),
        tags: ["events"],
        security: [],
        requestBody: {
          required: true,
          content: { "application/json": { schema: { $ref: `#/components/schemas/${eventSchemaName(type)}` } } }
        },
        responses: {
          "2XX": { description: "The receiver has it" },
          "4XX": { description: "The receiver does not take it; it is sent again later" }
        }
      }
    }
  ])
)

/** The parts of an OpenAPI document that this file changes. */
interface Response {
  readonly description: string
  readonly content?: unknown
  readonly headers?: unknown
}
interface Operation {
  readonly parameters: ReadonlyArray<object>
  readonly responses: Readonly<Record<string, Response>>
  readonly security: ReadonlyArray<object>
}
export interface OpenApiDocument {
  readonly info: object
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>
  readonly webhooks: object
  readonly components: { readonly schemas: Readonly<Record<string, object>>; readonly securitySchemes: object }
}

const headerParameter = (name: string, description: string, schema: object, required = false) => ({
  name,
  in: "header",
  required,
  description,
  schema
})

const { $schema: _, ...tenantIdSchema } = JSONSchema.make(TenantId)

const tenantHeader = headerParameter("tenant-id", "The tenant to work in", tenantIdSchema, true)
const idempotencyHeader = headerParameter(
  "Idempotency-Key",
  "Does the work once, however often the request is sent within 24 hours",
  {
    type: "string",
    pattern: idempotencyKeyPattern.source
  }
)
const ifMatchHeader = headerParameter("If-Match", "Writes only over the version with this ETag", { type: "string" })

const ifNoneMatchHeader = headerParameter("If-None-Match", "Answers 304 when the resource still has this ETag", {
  type: "string"
})

/** Whether the response is one resource with an ETag. */
const hasEtag = ({ returnsList, isUnsafeGet }: OperationTraits) => !returnsList && !isUnsafeGet

const requestHeadersOf = (facts: OperationTraits) => [
  ...(facts.access.for === "member" && facts.access.tenant === "header" ? [tenantHeader] : []),
  ...(facts.method === "POST" ? [idempotencyHeader] : []),
  ...(facts.acceptsIfMatch ? [ifMatchHeader] : []),
  ...(facts.method === "GET" && hasEtag(facts) ? [ifNoneMatchHeader] : [])
]

const optionalHeader = (description: string) => ({ description, schema: { type: "string" } })
const requiredHeader = (description: string) => ({ ...optionalHeader(description), required: true })

/** Headers of a success response. */
const successHeaders = (facts: OperationTraits, status: string) => ({
  "x-request-id": requiredHeader("Names the request in the service's log"),
  ...(status === "201" ? { Location: requiredHeader("Where what is new is to be found") } : {}),
  ...(facts.returnsList && facts.hasQuery
    ? { Link: optionalHeader('The next page, as rel="next", when there is one') }
    : {}),
  ...(hasEtag(facts) && status !== "204" ? { ETag: requiredHeader("The version of the resource") } : {}),
  ...(facts.method === "POST" ? { "Idempotent-Replayed": optionalHeader("true when the answer was given before") } : {})
})

const notModifiedResponse = (facts: OperationTraits) =>
  facts.method === "GET" && hasEtag(facts)
    ? { 304: { description: "The caller has this version already", headers: successHeaders(facts, "304") } }
    : {}

const errorResponses = (facts: OperationTraits) =>
  Object.fromEntries(
    documentedErrorsOf(facts).map(({ description, status, tag }) => [
      String(status),
      {
        description,
        headers: {
          "x-request-id": requiredHeader("Names the request in the service's log"),
          ...(tag === "TooManyRequests" || tag === "ServiceUnavailable"
            ? { "Retry-After": requiredHeader("Seconds to wait") }
            : {})
        },
        content: { "application/json": { schema: { $ref: `#/components/schemas/${tag}` } } }
      }
    ])
  )

const securityOf = ({ access }: OperationTraits) => {
  if (access.for === "anyone") return []
  return access.for === "optionalAuth" ? [{ bearer: [] }, {}] : [{ bearer: [] }]
}

const completeOperation = (operation: Operation, facts: OperationTraits): Operation => {
  const successes = Object.entries(operation.responses)
    .filter(([status]) => status.startsWith("2"))
    .map(([status, response]) => [status, { ...response, headers: successHeaders(facts, status) }])
  return {
    ...operation,
    parameters: [...operation.parameters, ...requestHeadersOf(facts)],
    security: securityOf(facts),
    responses: { ...Object.fromEntries(successes), ...notModifiedResponse(facts), ...errorResponses(facts) }
  }
}

/** The schema of `data` in a JSON response. */
const dataSchemaOf = ({ content }: Response) =>
  (
    content as {
      readonly "application/json"?: { readonly schema: { readonly properties?: { readonly data?: object } } }
    }
  )?.["application/json"]?.schema.properties?.data // the generator's types leave this part open

const returnsList = ({ responses }: Operation) =>
  Object.values(responses).some((response) => {
    const data = dataSchemaOf(response)
    return data !== undefined && "type" in data && data.type === "array"
  })

const updateMethods = new Set<string>(["PUT", "PATCH", "DELETE"])

/** A POST that returns 200 acts on an existing resource; one that creates returns 201. */
const isAction = (method: string, { responses }: Operation) => method === "POST" && "200" in responses

/** Schemas of Effect's own decode error, which the server never sends. */
const frameworkSchemas = new Set(["HttpApiDecodeError", "Issue", "PropertyKey"])

const completeComponents = (schemas: OpenApiDocument["components"]["schemas"]): OpenApiDocument["components"] => ({
  schemas: {
    ...Object.fromEntries(Object.entries(schemas).filter(([name]) => !frameworkSchemas.has(name))),
    ...Object.fromEntries(documentedErrors.map(({ schema, tag }) => [tag, schema]))
  },
  securitySchemes: { bearer: { type: "http", scheme: "bearer", bearerFormat: "JWT" } }
})

/** The OpenAPI document: Effect's, completed with the headers and errors that the server adds to every operation. */
export const makeOpenApiDocument = <Id extends string, G extends HttpApiGroup.HttpApiGroup.Any, E, R>(
  api: HttpApi.HttpApi<Id, G, E, R>
): OpenApiDocument => {
  // The generator's types have no response headers and no references like ours.
  const generated = OpenApi.fromApi(api) as unknown as OpenApiDocument
  const paths: Record<string, Record<string, Operation>> = {}
  HttpApi.reflect(api, {
    onGroup: () => {},
    onEndpoint: ({ endpoint }) => {
      const path = endpoint.path.replace(/:(\w+)/g, "{$1}")
      const method = endpoint.method.toLowerCase()
      const operation = generated.paths[path]?.[method]
      const access = Context.getOption(endpoint.annotations, EndpointAccess)
      if (operation === undefined || Option.isNone(access)) return
      const facts = {
        method: endpoint.method,
        access: access.value,
        hasPayload: HttpMethod.hasBody(endpoint.method) && Option.isSome(endpoint.payloadSchema),
        hasQuery: Option.isSome(endpoint.urlParamsSchema),
        returnsList: returnsList(operation),
        isUnsafeGet: Context.get(endpoint.annotations, UnsafeGet),
        acceptsIfMatch:
          updateMethods.has(endpoint.method) || (access.value.for !== "tracker" && isAction(endpoint.method, operation))
      }
      paths[path] = { ...paths[path], [method]: completeOperation(operation, facts) }
    }
  })
  return {
    ...generated,
    paths,
    webhooks: openApiWebhooks,
    components: completeComponents(generated.components.schemas)
  }
}
