import { Schema } from "effect"
import { Address } from "../../contracting/Address.ts"
import { Language } from "../../locale/Language.ts"
import { BankAccount } from "../../money/BankAccount.ts"
import { optional } from "../../Schemas.ts"
import { BillingContact } from "../../tenancy/BillingContact.ts"

/** A frozen address keeps its codes after their lists have dropped them. */
const FrozenAddress = Schema.Struct({
  ...Address.fields,
  countryCode: optional(Schema.String),
  electronicAddress: optional(Schema.Struct({ scheme: Schema.String, value: Schema.String }))
})

const party = { name: Schema.String, address: optional(FrozenAddress) }

/** Issuer, recipient and contract of an invoice. Finalizing the invoice freezes them. */
export const Parties = Schema.Struct({
  tenant: Schema.Struct({
    ...party,
    // An invoice of a release without time zones has none.
    timeZone: optional(Schema.String),
    bankAccount: optional(BankAccount),
    billingContact: optional(BillingContact)
  }),
  // An invoice of a release without languages has none.
  client: Schema.Struct({ ...party, language: optional(Language) }),
  contract: Schema.Struct({ name: Schema.String })
})
export type Parties = typeof Parties.Type
