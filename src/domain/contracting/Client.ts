import { Schema } from "effect"
import { MediaItem } from "../branding/Media.ts"
import { id } from "../Ids.ts"
import { defaultLanguage, Language } from "../locale/Language.ts"
import { body, field, Order, optional, optionalWithDefault, patch, text, timestamps } from "../Schemas.ts"

export const ClientId = id("clnt", "client")
export type ClientId = typeof ClientId.Type

/** Fields that API users can set. The other schemas derive from them. */
const writable = {
  name: field(text(1, 200), "Name of the client, as invoices show it.", "Northwind"),
  description: optional(field(text(0, 1024), "Free text about the client.", "Pumps and valves")),
  language: optionalWithDefault(field(Language, "Language of the client.", "de"), defaultLanguage),
  order: optional(Order)
}

export const Client = Schema.Struct({
  id: ClientId,
  ...writable,
  media: field(Schema.Array(MediaItem), "Images attached to the client, by `order`, then by slot."),
  ...timestamps
}).annotations({ identifier: "Client", description: "A party that the tenant works for and sends invoices to." })
export type Client = typeof Client.Type

/** The fields that a list of clients can be sorted by. */
export const clientSorts = ["name", "createdAt"] as const

export const CreateClient = body(writable).annotations({ identifier: "CreateClient", description: "A new client." })
export const PatchClient = patch(writable).annotations({
  identifier: "PatchClient",
  description: "The fields of a client to change."
})
