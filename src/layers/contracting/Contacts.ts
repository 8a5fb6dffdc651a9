import { Effect } from "effect"
import { Contact } from "../../domain/contracting/Contact.ts"
import { makeResource } from "../infra/postgres/repository/Resource.ts"
import { withSpans } from "../infra/telemetry/UseCaseSpans.ts"

export class Contacts extends Effect.Service<Contacts>()("layers/Contacts", {
  effect: makeResource({
    name: "contact",
    table: "contacts",
    entity: Contact,
    relations: ["client"],
    clientOf: ({ client }) => client
  }).pipe(withSpans("Contacts"))
}) {}
