import { Schema } from "effect"
import { id } from "../Ids.ts"
import { body, Order, optional, patch, timestamps } from "../Schemas.ts"
import { ContactId } from "./Contact.ts"
import { EmailAddress } from "./EmailAddress.ts"

export const EmailId = id("eml", "email")

const writable = {
  address: EmailAddress,
  order: optional(Order)
}

export const Email = Schema.Struct({ id: EmailId, contact: ContactId, ...writable, ...timestamps }).annotations({
  identifier: "Email"
})

export const CreateEmail = body({ contactId: ContactId, ...writable }).annotations({ identifier: "CreateEmail" })
export const PatchEmail = patch(writable).annotations({ identifier: "PatchEmail" })
