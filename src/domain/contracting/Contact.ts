import { Schema } from "effect"
import { id } from "../Ids.ts"
import { body, Order, optional, patch, text, timestamps } from "../Schemas.ts"
import { ClientId } from "./Client.ts"

export const ContactId = id("con", "contact")

const writable = {
  name: text(1, 200),
  role: optional(text(0, 100)),
  order: optional(Order)
}

export const Contact = Schema.Struct({ id: ContactId, client: ClientId, ...writable, ...timestamps }).annotations({
  identifier: "Contact"
})

export const CreateContact = body({ clientId: ClientId, ...writable }).annotations({ identifier: "CreateContact" })
export const PatchContact = patch(writable).annotations({ identifier: "PatchContact" })
