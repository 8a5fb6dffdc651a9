import { Schema, SchemaAST } from "effect"

const describeList = <A, I, R>(schema: Schema.Schema<A, I, R>) =>
  SchemaAST.isTupleType(schema.ast) ? schema.annotations({ description: "The items, in their order." }) : schema

/** `{ "data": … }` in JSON, the bare value in handlers and generated clients. */
export const data = <A, I, R>(schema: Schema.Schema<A, I, R>) =>
  Schema.transform(Schema.Struct({ data: describeList(schema) }), Schema.typeSchema(schema), {
    strict: true,
    decode: (envelope) => envelope.data,
    encode: (value) => ({ data: value })
  })

export const created = { status: 201 } as const
export const accepted = { status: 202 } as const
