import { Model } from "@effect/sql"
import { Schema } from "effect"

const Timestamp = Model.Field({ select: Schema.DateFromSelf, json: Schema.Date })

const common = {
  id: Schema.String,
  name: Schema.String,
  description: Model.FieldOption(Schema.String),
  order: Model.FieldOption(Schema.Number),
  createdAt: Timestamp,
  updatedAt: Timestamp
}

export class Project extends Model.Class<Project>("Project")({ ...common, contract: Schema.String }) {}

export class Client extends Model.Class<Client>("Client")({ ...common, media: Schema.Array(Schema.Unknown) }) {}

const text = (min: number, max: number) => Schema.String.pipe(Schema.minLength(min), Schema.maxLength(max))

export class NewClient extends Schema.Class<NewClient>("NewClient")(
  Schema.Struct({
    name: text(1, 200),
    description: Schema.optional(text(0, 1024)),
    order: Schema.optional(Schema.NonNegativeInt)
  }).annotations({ parseOptions: { onExcessProperty: "error" } })
) {}
