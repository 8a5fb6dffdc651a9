import { HttpApi, type HttpApiGroup, HttpMethod, OpenApi } from "@effect/platform"
import { Context, JSONSchema, Option } from "effect"
import { TenantId } from "../../domain/tenancy/Tenant.ts"
import { Access, OnceOnly } from "./Access.ts"
import { type Facts, failures, failuresOf } from "./Failures.ts"
import { keyPattern } from "./Idempotency.ts"
import { webhooks } from "./Webhooks.ts"

/** The parts of an OpenAPI document that are worked on here. */
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
export interface Document {
  readonly info: object
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>
  readonly webhooks: object
  readonly components: { readonly schemas: Readonly<Record<string, object>>; readonly securitySchemes: object }
}

const header = (name: string, description: string, schema: object, required = false) => ({
  name,
  in: "header",
  required,
  description,
  schema
})

const { $schema: _, ...tenantIdSchema } = JSONSchema.make(TenantId)

const tenantHeader = header("tenant-id", "The tenant to work in", tenantIdSchema, true)
const idempotencyHeader = header(
  "Idempotency-Key",
  "Does the work once, however often the request is sent within 24 hours",
  {
    type: "string",
    pattern: keyPattern.source
  }
)
const ifMatchHeader = header("If-Match", "Writes only over the version with this ETag", { type: "string" })

const ifNoneMatchHeader = header("If-None-Match", "Answers 304 when the resource still has this ETag", {
  type: "string"
})

/** Whether an answer is one version of a resource, which a caller may have already. */
const hasVersion = ({ isMany, isOnceOnly }: Facts) => !isMany && !isOnceOnly

const headersOf = (facts: Facts) => [
  ...(facts.access.for === "member" && facts.access.tenant === "header" ? [tenantHeader] : []),
  ...(facts.method === "POST" ? [idempotencyHeader] : []),
  ...(facts.isChange ? [ifMatchHeader] : []),
  ...(facts.method === "GET" && hasVersion(facts) ? [ifNoneMatchHeader] : [])
]

const sometimes = (description: string) => ({ description, schema: { type: "string" } })
const always = (description: string) => ({ ...sometimes(description), required: true })

/** Headers of a success, by what it answers with. */
const answerHeaders = (facts: Facts, status: string) => ({
  "x-request-id": always("Names the request in the service's log"),
  ...(status === "201" ? { Location: always("Where what is new is to be found") } : {}),
  ...(facts.isMany && facts.hasQuery ? { Link: sometimes('The next page, as rel="next", when there is one') } : {}),
  ...(hasVersion(facts) && status !== "204" ? { ETag: always("The version of the resource") } : {}),
  ...(facts.method === "POST" ? { "Idempotent-Replayed": sometimes("true when the answer was given before") } : {})
})

const notModified = (facts: Facts) =>
  facts.method === "GET" && hasVersion(facts)
    ? { 304: { description: "The caller has this version already", headers: answerHeaders(facts, "304") } }
    : {}

const failureResponses = (facts: Facts) =>
  Object.fromEntries(
    failuresOf(facts).map(({ description, status, tag }) => [
      String(status),
      {
        description,
        headers: {
          "x-request-id": always("Names the request in the service's log"),
          ...(tag === "TooManyRequests" || tag === "ServiceUnavailable"
            ? { "Retry-After": always("Seconds to wait") }
            : {})
        },
        content: { "application/json": { schema: { $ref: `#/components/schemas/${tag}` } } }
      }
    ])
  )

const securityOf = ({ access }: Facts) => {
  if (access.for === "anyone") return []
  return access.for === "visitor" ? [{ bearer: [] }, {}] : [{ bearer: [] }]
}

const completed = (operation: Operation, facts: Facts): Operation => {
  const successes = Object.entries(operation.responses)
    .filter(([status]) => status.startsWith("2"))
    .map(([status, response]) => [status, { ...response, headers: answerHeaders(facts, status) }])
  return {
    ...operation,
    parameters: [...operation.parameters, ...headersOf(facts)],
    security: securityOf(facts),
    responses: { ...Object.fromEntries(successes), ...notModified(facts), ...failureResponses(facts) }
  }
}

/** What an answer holds under `data`, where it is JSON. */
const dataOf = ({ content }: Response) =>
  (
    content as {
      readonly "application/json"?: { readonly schema: { readonly properties?: { readonly data?: object } } }
    }
  )?.["application/json"]?.schema.properties?.data // the document's own shape, which the generator's types leave open

const answersMany = ({ responses }: Operation) =>
  Object.values(responses).some((response) => {
    const data = dataOf(response)
    return data !== undefined && "type" in data && data.type === "array"
  })

const changing = new Set<string>(["PUT", "PATCH", "DELETE"])

/** A POST that creates answers 201; one that answers 200 does something to a resource that is there. */
const isAction = (method: string, { responses }: Operation) => method === "POST" && "200" in responses

/** The framework lists an error of its own that the edge never lets out. */
const foreign = new Set(["HttpApiDecodeError", "Issue", "PropertyKey"])

const components = (schemas: Document["components"]["schemas"]): Document["components"] => ({
  schemas: {
    ...Object.fromEntries(Object.entries(schemas).filter(([name]) => !foreign.has(name))),
    ...Object.fromEntries(failures.map(({ schema, tag }) => [tag, schema]))
  },
  securitySchemes: { bearer: { type: "http", scheme: "bearer", bearerFormat: "JWT" } }
})

/** The OpenAPI document: the contract's own, completed by what the edge adds to every operation. */
export const documentOf = <Id extends string, G extends HttpApiGroup.HttpApiGroup.Any, E, R>(
  api: HttpApi.HttpApi<Id, G, E, R>
): Document => {
  // The generator's types know neither response headers nor references as we write them.
  const generated = OpenApi.fromApi(api) as unknown as Document
  const paths: Record<string, Record<string, Operation>> = {}
  HttpApi.reflect(api, {
    onGroup: () => {},
    onEndpoint: ({ endpoint }) => {
      const path = endpoint.path.replace(/:(\w+)/g, "{$1}")
      const method = endpoint.method.toLowerCase()
      const operation = generated.paths[path]?.[method]
      const access = Context.getOption(endpoint.annotations, Access)
      if (operation === undefined || Option.isNone(access)) return
      const facts = {
        method: endpoint.method,
        access: access.value,
        hasPayload: HttpMethod.hasBody(endpoint.method) && Option.isSome(endpoint.payloadSchema),
        hasQuery: Option.isSome(endpoint.urlParamsSchema),
        isMany: answersMany(operation),
        isOnceOnly: Context.get(endpoint.annotations, OnceOnly),
        isChange:
          changing.has(endpoint.method) || (access.value.for !== "tracker" && isAction(endpoint.method, operation))
      }
      paths[path] = { ...paths[path], [method]: completed(operation, facts) }
    }
  })
  return { ...generated, paths, webhooks, components: components(generated.components.schemas) }
}
