import { Either, JSONSchema, ParseResult, Schema } from "effect"
import { toValidationDetails } from "../../../src/http/server/request/ValidationDetails.ts"

/** The validation errors of a request body, as API users read them, or undefined for a valid body. */
export const schemaErrorsOf = <A, I>(schema: Schema.Schema<A, I>, value: unknown) => {
  const decoded = ParseResult.decodeUnknownEither(schema)(value)
  return Either.isLeft(decoded)
    ? toValidationDetails(decoded.left, "body").map(
        ({ constraint, field, message }) => `${field} ${constraint}: ${message}`
      )
    : undefined
}

export const decode = <A, I>(schema: Schema.Schema<A, I>, value: unknown) => Schema.decodeUnknownSync(schema)(value)

/** The JSON Schema of a schema in the OpenAPI document, without the version of JSON Schema. */
export const jsonSchemaOf = <A, I>(schema: Schema.Schema<A, I>): object => {
  const { $schema: _, ...jsonSchema } = JSONSchema.make(schema)
  return jsonSchema
}
