import { Schema } from "effect"
import { EmailAddress } from "../contracting/EmailAddress.ts"
import { body, field, optional, rule, text } from "../Schemas.ts"

/** Whom clients ask about their invoices: the seller contact of EN 16931, BT-41 to BT-43. */
export const BillingContact = body({
  name: optional(field(text(1, 200), "Name of the person or department.", "Accounts receivable")),
  email: optional(field(EmailAddress, "Email address for questions.", "billing@harbour-works.example")),
  phone: optional(field(text(1, 50), "Telephone number for questions.", "+49 40 1234567"))
})
  .pipe(
    Schema.filter(
      (contact) => Object.keys(contact).length > 0,
      rule("required", "must have at least one of name, email and phone", { minProperties: 1 })
    )
  )
  .annotations({
    identifier: "BillingContact",
    description: "Whom clients ask about invoices, with at least one of `name`, `email` and `phone`."
  })
export type BillingContact = typeof BillingContact.Type
