import { HttpApiSchema } from "@effect/platform"
import { JSONSchema, Option, Schema, SchemaAST } from "effect"
import { WireError } from "../../domain/Errors.ts"
import type { AccessRule } from "./Access.ts"

/** What decides which failures an operation can answer with. */
export interface Facts {
  readonly method: string
  readonly access: AccessRule
  readonly hasPayload: boolean
  readonly hasQuery: boolean
  /** Whether it answers with an array rather than with one resource. */
  readonly isMany: boolean
  /** Whether it changes a resource that is there, and so may be tied to a version of it. */
  readonly isChange: boolean
  /** Whether the answer is not one to be had again. */
  readonly isOnceOnly: boolean
}

type ErrorTag = WireError["_tag"]

const always = () => true
const byHeader = ({ access }: Facts) => access.for === "member" && access.tenant === "header"

/** When each failure can happen; the interface names 404 for every operation. */
const occurs: Readonly<Record<ErrorTag, (facts: Facts) => boolean>> = {
  ValidationError: (facts) => byHeader(facts) || facts.hasPayload || facts.hasQuery || facts.method === "POST",
  Unauthorized: ({ access }) => access.for !== "anyone",
  Forbidden: (facts) =>
    byHeader(facts) ||
    facts.access.for === "insider" ||
    facts.access.for === "visitor" ||
    (facts.access.for === "member" && facts.access.role !== "VIEWER" && !facts.access.hidden),
  NotFound: always,
  Conflict: ({ method }) => method === "POST",
  PreconditionFailed: ({ isChange }) => isChange,
  PayloadTooLarge: ({ method }) => method !== "GET",
  UnsupportedMediaType: ({ hasPayload }) => hasPayload,
  TooManyRequests: always,
  InternalError: always,
  ServiceUnavailable: always
}

/** Every failure of the service with its status, its sentence and its body. */
export const failures = WireError.members.map((member) => {
  const { $schema, ...schema } = JSONSchema.make(Schema.make(member.ast))
  return {
    tag: member.identifier as ErrorTag, // every class is named after its tag
    status: HttpApiSchema.getStatusError(member),
    description: Option.getOrElse(
      SchemaAST.getDescriptionAnnotation(SchemaAST.typeAST(member.ast)),
      () => member.identifier
    ),
    schema
  }
})

export const failuresOf = (facts: Facts) => failures.filter(({ tag }) => occurs[tag](facts))
