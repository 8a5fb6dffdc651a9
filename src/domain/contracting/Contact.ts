import { Schema } from "effect"
import { id } from "../Ids.ts"
import { body, field, Order, optional, optionalWithDefault, patch, text, timestamps } from "../Schemas.ts"
import { ClientId } from "./Client.ts"

export const ContactId = id("con", "contact")

const writable = {
  name: field(text(1, 200), "Name of the person.", "Ada Larsen"),
  role: optional(field(text(0, 100), "What the person does at the client.", "Buyer")),
  receivesInvoices: optionalWithDefault(
    field(Schema.Boolean, "Whether the person receives the invoices of the client.", true),
    false
  ),
  order: optional(Order)
}

const client = field(ClientId, "The client that the person belongs to.")

export const Contact = Schema.Struct({ id: ContactId, client, ...writable, ...timestamps }).annotations({
  identifier: "Contact",
  description: "A person to talk to at a client."
})

export const CreateContact = body({ clientId: client, ...writable }).annotations({
  identifier: "CreateContact",
  description: "A new contact of a client."
})
export const PatchContact = patch(writable).annotations({
  identifier: "PatchContact",
  description: "The fields of a contact to change."
})
