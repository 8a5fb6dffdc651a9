import { HttpApiSchema } from "@effect/platform"
import { JSONSchema, Option, Schema, SchemaAST } from "effect"
import { ApiError } from "../../domain/Errors.ts"
import type { AccessRule } from "./Access.ts"

/** The properties of an operation that determine its possible errors. */
export interface OperationTraits {
  readonly method: string
  readonly access: AccessRule
  readonly hasPayload: boolean
  readonly hasQuery: boolean
  readonly hasPathParameter: boolean
  /** Whether the response is an array rather than one resource. */
  readonly returnsList: boolean
  /** Whether that array is one page of a list. */
  readonly isPaged: boolean
  /** Whether the response has a CSV form although it is no list. */
  readonly hasCsvForm: boolean
  /** Whether it changes an existing resource, and so accepts If-Match. */
  readonly acceptsIfMatch: boolean
  /** Whether its body is a file. */
  readonly isUpload: boolean
  /** Whether it is a GET with side effects. */
  readonly isUnsafeGet: boolean
}

type ErrorTag = ApiError["_tag"]

const always = () => true
const hasTenantHeader = ({ access }: OperationTraits) => access.for === "member" && access.tenant === "header"

/** Which operations can return each error. The API documents 404 for every operation. */
const canOccur: Readonly<Record<ErrorTag, (facts: OperationTraits) => boolean>> = {
  ValidationError: (facts) => hasTenantHeader(facts) || facts.hasPayload || facts.hasQuery || facts.method === "POST",
  Unauthorized: ({ access }) => access.for !== "anyone",
  Forbidden: (facts) =>
    hasTenantHeader(facts) ||
    facts.access.for === "resourceMember" ||
    facts.access.for === "optionalAuth" ||
    (facts.access.for === "member" && facts.access.role !== "VIEWER" && !facts.access.hidden),
  NotFound: always,
  Conflict: ({ method }) => method === "POST",
  PreconditionFailed: ({ acceptsIfMatch }) => acceptsIfMatch,
  PayloadTooLarge: ({ method }) => method !== "GET",
  UnsupportedMediaType: ({ hasPayload }) => hasPayload,
  TooManyRequests: always,
  InternalError: always,
  ServiceUnavailable: always
}

/** Every error of the API with its status, description and body schema. */
export const documentedErrors = ApiError.members.map((member) => {
  const { $schema, ...schema } = JSONSchema.make(Schema.make(member.ast))
  return {
    tag: member.identifier as ErrorTag, // every class has its tag as identifier
    status: HttpApiSchema.getStatusError(member),
    description: Option.getOrElse(
      SchemaAST.getDescriptionAnnotation(SchemaAST.typeAST(member.ast)),
      () => member.identifier
    ),
    schema
  }
})

export const documentedErrorsOf = (facts: OperationTraits) => documentedErrors.filter(({ tag }) => canOccur[tag](facts))
