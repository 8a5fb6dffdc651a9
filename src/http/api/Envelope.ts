import { Schema } from "effect"

/** `{ "data": … }` in JSON, the bare value in handlers and generated clients. */
export const data = <A, I, R>(schema: Schema.Schema<A, I, R>) =>
  Schema.transform(Schema.Struct({ data: schema }), Schema.typeSchema(schema), {
    strict: true,
    decode: (envelope) => envelope.data,
    encode: (value) => ({ data: value })
  })

export const created = { status: 201 } as const
