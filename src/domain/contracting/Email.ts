import { Schema } from "effect"
import { id } from "../Ids.ts"
import { body, field, Order, optional, patch, timestamps } from "../Schemas.ts"
import { ContactId } from "./Contact.ts"
import { EmailAddress } from "./EmailAddress.ts"

export const EmailId = id("eml", "email")

const writable = {
  address: field(EmailAddress, "The email address.", "ada.larsen@northwind.example"),
  order: optional(Order)
}

const contact = field(ContactId, "The contact that the address belongs to.")

export const Email = Schema.Struct({ id: EmailId, contact, ...writable, ...timestamps }).annotations({
  identifier: "Email",
  description: "An email address of a contact."
})

export const CreateEmail = body({ contactId: contact, ...writable }).annotations({
  identifier: "CreateEmail",
  description: "A new email address of a contact."
})
export const PatchEmail = patch(writable).annotations({
  identifier: "PatchEmail",
  description: "The fields of an email address to change."
})
