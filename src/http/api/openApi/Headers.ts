import { JSONSchema } from "effect"
import { exampleId } from "../../../domain/Ids.ts"
import { TenantId } from "../../../domain/tenancy/Tenant.ts"
import type { OperationTraits } from "../DocumentedErrors.ts"
import { idempotencyKeyPattern } from "../Idempotency.ts"

const headerParameter = (name: string, description: string, schema: object, required = false) => ({
  name,
  in: "header",
  required,
  description,
  schema
})

const { $schema: _, ...tenantIdSchema } = JSONSchema.make(TenantId)

const exampleEtag = '"Vd0rXyqQ3oWcYQm2kqJ8Zg4nBvT1sLhE5uFpA7iKxRw"'

const tenantHeader = headerParameter("tenant-id", "Identifier of the tenant to work in.", tenantIdSchema, true)
const idempotencyHeader = headerParameter(
  "Idempotency-Key",
  "A key of your choice. The same request with the same key gets the response of the first one for 24 hours, and " +
    "changes nothing again.",
  { type: "string", pattern: idempotencyKeyPattern.source, examples: ["import-2026-11-14-7"] }
)
const ifMatchHeader = headerParameter(
  "If-Match",
  "An ETag. The request succeeds only if the resource still has this version.",
  { type: "string", examples: [exampleEtag] }
)
const ifNoneMatchHeader = headerParameter(
  "If-None-Match",
  "An ETag. The response is a 304 without a body if the resource still has this version.",
  { type: "string", examples: [exampleEtag] }
)

/** Whether the response is one resource with an ETag. */
export const hasEtag = ({ returnsList, isUnsafeGet }: OperationTraits) => !returnsList && !isUnsafeGet

/** Parameters for the request headers that the server reads for every operation of a kind. */
export const requestHeadersOf = (traits: OperationTraits) => [
  ...(traits.access.for === "member" && traits.access.tenant === "header" ? [tenantHeader] : []),
  ...(traits.method === "POST" ? [idempotencyHeader] : []),
  ...(traits.acceptsIfMatch ? [ifMatchHeader] : []),
  ...(traits.method === "GET" && hasEtag(traits) ? [ifNoneMatchHeader] : [])
]

const optionalHeader = (description: string, example: string) => ({
  description,
  schema: { type: "string", examples: [example] }
})
const requiredHeader = (description: string, example: string) => ({
  ...optionalHeader(description, example),
  required: true
})

const requestIdHeader = requiredHeader(
  "Identifies the request in the log of the service.",
  "3f1d8a52-6c0e-4b7a-9d21-5e8f0c4b7a19"
)

/** Headers of a success response. */
export const successHeaders = (traits: OperationTraits, status: string) => ({
  "x-request-id": requestIdHeader,
  ...(status === "201"
    ? { Location: requiredHeader("URL of the new resource.", `/api/v1/clients/${exampleId("clnt")}`) }
    : {}),
  ...(traits.isPaged
    ? {
        Link: optionalHeader(
          'URL of the next page, as `rel="next"`, if there is one.',
          '</api/v1/projects?cursor=WzEsInByal8xIl0>; rel="next"'
        )
      }
    : {}),
  ...(hasEtag(traits) && status !== "204" ? { ETag: requiredHeader("Version of the resource.", exampleEtag) } : {}),
  ...(traits.method === "POST"
    ? {
        "Idempotent-Replayed": optionalHeader(
          "`true` if this is the response of an earlier request with the same `Idempotency-Key`.",
          "true"
        )
      }
    : {})
})

/** Headers of an error response. */
export const errorHeaders = (error: string) => ({
  "x-request-id": requestIdHeader,
  ...(error === "TooManyRequests" || error === "ServiceUnavailable"
    ? { "Retry-After": requiredHeader("Seconds to wait before the next attempt.", "1") }
    : {})
})
