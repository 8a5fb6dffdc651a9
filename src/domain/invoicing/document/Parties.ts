import { Schema } from "effect"
import { Address } from "../../contracting/Address.ts"
import { BankAccount } from "../../money/BankAccount.ts"
import { optional } from "../../Schemas.ts"

const party = { name: Schema.String, address: optional(Address) }

/** Issuer, recipient and contract of an invoice. Finalizing the invoice freezes them. */
export const Parties = Schema.Struct({
  // An invoice of a release without time zones has none.
  tenant: Schema.Struct({ ...party, timeZone: optional(Schema.String), bankAccount: optional(BankAccount) }),
  client: Schema.Struct(party),
  contract: Schema.Struct({ name: Schema.String })
})
export type Parties = typeof Parties.Type
